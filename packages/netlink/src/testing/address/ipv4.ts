/** IPv4 addresses and the routes that come and go with them — net/ipv4/devinet.c, net/ipv4/fib_frontend.c */
import { Prefix } from '@heddle/netaddr';
import { IFA_F } from '../../address/codec.ts';
import { RT_SCOPE, RT_TABLE } from '../../route/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import { isLoopback } from '../link/kinds.ts';
import type { LinkRecord } from '../link/record.ts';
import type { RouteRecord } from '../route/record.ts';
import { ensureRoute, kernelRoute, removeHops, removeRoutes, sameRoute, tableOf } from '../route/store.ts';
import type { AddressRecord } from './record.ts';
import { addressesOf, changeAddress, dropAddress, insertAddress } from './store.ts';

/** Adds an address: the first of its network is the primary one, later ones are secondary to it. */
export function addAddress4(namespace: Namespace, link: LinkRecord, wanted: AddressRecord): void {
  const present = addressesOf(namespace, 4, link.index);
  const kin = present.filter((each) => sameNetwork(each, wanted));
  if (kin.some(({ local }) => local.equals(wanted.local))) refuse('EEXIST', 'ipv4: Address already assigned');
  if (kin.some(({ scope }) => scope !== wanted.scope)) refuse('EINVAL', 'ipv4: Invalid scope value');
  const isSecondary = kin.length > 0;
  const address = isSecondary ? { ...wanted, flags: wanted.flags | IFA_F.SECONDARY } : wanted;
  const after = isSecondary
    ? undefined
    : present.find((each) => (each.flags & IFA_F.SECONDARY) !== 0 || each.scope > wanted.scope);
  insertAddress(namespace, address, after);
  addConnectedRoutes4(namespace, link, address);
}

/** Takes an address away; with a primary one go its secondaries, unless the first of them is to follow it. */
export function deleteAddress4(namespace: Namespace, link: LinkRecord, address: AddressRecord): void {
  const isPrimary = (address.flags & IFA_F.SECONDARY) === 0;
  const secondaries = isPrimary
    ? addressesOf(namespace, 4, link.index).filter((each) => each !== address && sameNetwork(each, address))
    : [];
  const { settings } = namespace;
  const promotes = (['all', link.index] as const).some((place) =>
    settings.isOn('ipv4', place, 'promote_secondaries'),
  );
  if (!promotes) for (const each of secondaries) deleteAddress4(namespace, link, each);
  const implied = connectedRoutes4(namespace, link, address);
  dropAddress(namespace, address);
  const [heir] = promotes ? secondaries : [];
  if (heir !== undefined) changeAddress(namespace, heir, { ...heir, flags: heir.flags & ~IFA_F.SECONDARY });
  removeUnimplied(namespace, link, implied);
  if (heir !== undefined) {
    for (const each of addressesOf(namespace, 4, link.index)) {
      if (sameNetwork(each, address)) addConnectedRoutes4(namespace, link, each);
    }
  }
  if (namespace.addresses.some(({ local }) => local.equals(address.local))) return;
  // Routes whose source is gone cannot be used any more.
  removeRoutes(namespace, ({ source }) => source?.equals(address.local) === true, { silent: true });
}

/** The link came up: the loopback gets its address, and every address its routes. */
export function linkUp4(namespace: Namespace, link: LinkRecord): void {
  if (isLoopback(link) && addressesOf(namespace, 4, link.index).length === 0) {
    const loopback = Prefix.parse('127.0.0.1/8');
    addAddress4(namespace, link, {
      ...{ family: 4, link: link.index, local: loopback.addr, address: loopback.addr, bits: loopback.bits },
      ...{ scope: RT_SCOPE.HOST, label: link.name, flags: IFA_F.PERMANENT, metric: 0 },
      ...{ valid: 0xffff_ffff, preferred: 0xffff_ffff },
    });
    return;
  }
  for (const address of addressesOf(namespace, 4, link.index)) addConnectedRoutes4(namespace, link, address);
}

/** The link went down: only the routes to its own addresses stay. */
export function linkDown4(namespace: Namespace, link: LinkRecord): void {
  removeHops(namespace, 4, link.index, true);
}

function addConnectedRoutes4(namespace: Namespace, link: LinkRecord, address: AddressRecord): void {
  for (const route of connectedRoutes4(namespace, link, address)) ensureRoute(namespace, route);
}

/** The routes that an address brings: to itself, to its network and to that one's broadcast addresses. */
function connectedRoutes4(namespace: Namespace, link: LinkRecord, address: AddressRecord): RouteRecord[] {
  const { local, bits, flags, broadcast } = address;
  const source = primaryOf(namespace, address).local;
  const localTable = tableOf(namespace, link, RT_TABLE.LOCAL);
  const own = { type: 'local', table: localTable, scope: RT_SCOPE.HOST, source } as const;
  const everybody = { type: 'broadcast', table: localTable, scope: RT_SCOPE.LINK, source } as const;
  const routes = [kernelRoute(link, { ...own, dst: Prefix.host(local) })];
  if (!link.up) return routes;
  const isLimited = broadcast === undefined || broadcast.equals(LIMITED_BROADCAST);
  if (!isLimited) routes.push(kernelRoute(link, { ...everybody, dst: Prefix.host(broadcast) }));
  const network = Prefix.of(address.address, bits).masked();
  const hasNetwork = !network.addr.isUnspecified && (!network.addr.equals(local) || bits < 32);
  if (!hasNetwork || (flags & IFA_F.SECONDARY) !== 0) return routes;
  if ((flags & IFA_F.NOPREFIXROUTE) === 0) {
    routes.push(
      isLoopback(link)
        ? kernelRoute(link, { ...own, dst: network, metric: address.metric })
        : kernelRoute(link, {
            ...{ dst: network, type: 'unicast', scope: RT_SCOPE.LINK, source, metric: address.metric },
            table: tableOf(namespace, link, RT_TABLE.MAIN),
          }),
    );
  }
  if (bits < 31) routes.push(kernelRoute(link, { ...everybody, dst: Prefix.host(network.last) }));
  return routes;
}

const LIMITED_BROADCAST = Prefix.DEFAULT4.last;

/** Takes those of the routes away that no address of the link brings any more. */
function removeUnimplied(namespace: Namespace, link: LinkRecord, routes: readonly RouteRecord[]): void {
  const still = addressesOf(namespace, 4, link.index).flatMap((each) =>
    connectedRoutes4(namespace, link, each),
  );
  const gone = routes.filter((route) => !still.some((other) => sameRoute(other, route)));
  removeRoutes(namespace, (route) => gone.some((each) => sameRoute(each, route)));
}

function primaryOf(namespace: Namespace, address: AddressRecord): AddressRecord {
  if ((address.flags & IFA_F.SECONDARY) === 0) return address;
  const kin = addressesOf(namespace, 4, address.link).filter((each) => sameNetwork(each, address));
  return kin.find(({ flags }) => (flags & IFA_F.SECONDARY) === 0) ?? address;
}

function sameNetwork(a: AddressRecord, b: AddressRecord): boolean {
  return a.bits === b.bits && Prefix.of(a.address, a.bits).contains(b.address);
}
