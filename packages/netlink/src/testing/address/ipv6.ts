/** IPv6 addresses and the routes that come and go with them — net/ipv6/addrconf.c */
import { Addr, linkLocalFromMac, Mac, Prefix } from '@heddle/netaddr';
import { FOREVER, IFA_F } from '../../address/codec.ts';
import { RT_SCOPE, RT_TABLE } from '../../route/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import { isLoopback } from '../link/kinds.ts';
import type { LinkRecord } from '../link/record.ts';
import { ensureRoute, kernelRoute, removeHops, removeRoutes, tableOf } from '../route/store.ts';
import { startDad } from './dad.ts';
import type { AddressRecord } from './record.ts';
import { addressesOf, changeAddress, dropAddress, insertAddress } from './store.ts';

/** Adds an address: tentative, unless it needs no duplicate address detection. */
export function addAddress6(namespace: Namespace, link: LinkRecord, wanted: AddressRecord): void {
  if (isDisabled(namespace, link)) refuse('EACCES', 'ipv6: IPv6 is disabled on this device');
  const present = addressesOf(namespace, 6, link.index);
  if (present.some(({ local }) => local.equals(wanted.local))) {
    refuse('EEXIST', 'ipv6: address already assigned');
  }
  const isChecked = (wanted.flags & IFA_F.NODAD) === 0;
  const address = isChecked ? { ...wanted, flags: wanted.flags | IFA_F.TENTATIVE } : wanted;
  // The newest comes first among those of its scope, the widest scope before the others.
  insertAddress(
    namespace,
    address,
    present.find(({ scope }) => scope >= address.scope),
  );
  addPrefixRoute(namespace, link, address);
  startDad(namespace, address);
}

/** Takes an address away with its routes. */
export function deleteAddress6(namespace: Namespace, link: LinkRecord, address: AddressRecord): void {
  dropAddress(namespace, address);
  const others = addressesOf(namespace, 6, link.index);
  const isOf = (table: number) => tableOf(namespace, link, table);
  removeRoutes(
    namespace,
    ({ dst, type, table, hops }) =>
      type === 'local' &&
      table === isOf(RT_TABLE.LOCAL) &&
      dst.equals(Prefix.host(address.local)) &&
      hops[0]?.link === link.index,
  );
  const network = networkOf(address);
  if (others.some((other) => networkOf(other).equals(network))) return;
  removeRoutes(
    namespace,
    ({ dst, type, hops, protocol }) =>
      hops[0]?.link === link.index &&
      ((type === 'anycast' && dst.equals(Prefix.host(network.addr))) ||
        (type === 'unicast' && protocol === KERNEL && hops[0].gateway === undefined && dst.equals(network))),
  );
}

/** IPv6 begins on a link that is up and has its carrier: it gets what the kernel itself gives it. */
export function beginIpv6(namespace: Namespace, link: LinkRecord): void {
  if (isDisabled(namespace, link) || link.kind === 'vrf') return;
  namespace.links.set(link.index, { ...link, ipv6Ready: true });
  const own = { family: 6, link: link.index, metric: 0, valid: FOREVER, preferred: FOREVER } as const;
  if (isLoopback(link)) {
    const local = Addr.parse('::1');
    const one: AddressRecord = {
      ...own,
      local,
      address: local,
      bits: 128,
      scope: RT_SCOPE.HOST,
      flags: IFA_F.PERMANENT,
    };
    if (addressesOf(namespace, 6, link.index).some((each) => each.local.equals(local))) return;
    insertAddress(namespace, one);
    startDad(namespace, one);
    return;
  }
  const multicast = { dst: Prefix.parse('ff00::/8'), type: 'multicast', metric: ADDRCONF_METRIC } as const;
  ensureRoute(
    namespace,
    kernelRoute(link, { ...multicast, table: tableOf(namespace, link, RT_TABLE.LOCAL) }),
  );
  const waiting = addressesOf(namespace, 6, link.index).filter(
    ({ flags }) => (flags & IFA_F.TENTATIVE) !== 0,
  );
  for (const address of waiting) startDad(namespace, address);
  const mac = Mac.fromBytes(link.address);
  if (namespace.settings.conf('ipv6', link.index, 'addr_gen_mode') !== '0' || mac.isZero) return;
  const local = linkLocalFromMac(mac);
  if (addressesOf(namespace, 6, link.index).some((each) => each.local.equals(local))) return;
  const flags = IFA_F.PERMANENT;
  addAddress6(namespace, link, { ...own, local, address: local, bits: 64, scope: RT_SCOPE.LINK, flags });
}

/** The link came up: the addresses that it kept get their routes again. */
export function linkUp6(namespace: Namespace, link: LinkRecord): void {
  for (const address of addressesOf(namespace, 6, link.index)) {
    addPrefixRoute(namespace, link, address);
    startDad(namespace, address);
  }
}

/** The link went down: it loses its addresses, but for those that it is told to keep. */
export function linkDown6(namespace: Namespace, link: LinkRecord): void {
  const { settings } = namespace;
  const keeps = (['all', link.index] as const).some((place) =>
    settings.isOn('ipv6', place, 'keep_addr_on_down'),
  );
  for (const address of addressesOf(namespace, 6, link.index)) {
    const stays =
      keeps && (address.flags & IFA_F.PERMANENT) !== 0 && !address.local.isLinkLocal && !isLoopback(link);
    if (!stays) dropAddress(namespace, address);
    else if ((address.flags & IFA_F.NODAD) === 0) {
      changeAddress(namespace, address, { ...address, flags: address.flags | IFA_F.TENTATIVE });
    }
  }
  removeHops(namespace, 6, link.index, false);
}

/** Whether a link has IPv6 switched off. */
export function isDisabled({ settings }: Namespace, link: LinkRecord): boolean {
  return settings.isOn('ipv6', link.index, 'disable_ipv6');
}

function addPrefixRoute(namespace: Namespace, link: LinkRecord, address: AddressRecord): void {
  if (!link.up || (address.flags & IFA_F.NOPREFIXROUTE) !== 0) return;
  const table = tableOf(namespace, link, RT_TABLE.MAIN);
  const metric = address.metric === 0 ? ADDRCONF_METRIC : address.metric;
  ensureRoute(namespace, kernelRoute(link, { dst: networkOf(address), type: 'unicast', table, metric }));
}

function networkOf({ address, bits }: AddressRecord): Prefix {
  return Prefix.of(address, bits).masked();
}

/** IP6_RT_PRIO_ADDRCONF */
const ADDRCONF_METRIC = 256;
/** RTPROT_KERNEL */
const KERNEL = 2;
