/** The network that nodes reach each other over, as this node sees it. */
import { LINK_GROUPS, ROUTE_PROTOCOL } from '@heddle/dataplane';
import { Addr, type Prefix } from '@heddle/netaddr';
import type { Address, KernelSession, Link, Route } from '@heddle/netlink';
import { RoutingError } from '../routing-error.ts';

/** One address of this node between nodes. */
export interface UnderlayAddress {
  /** With the prefix of its segment. */
  readonly prefix: Prefix;
  /** Index of the link that has it. */
  readonly link: number;
  readonly linkName: string;
}

/** See the file's comment. */
export interface Underlay {
  /** At most one of a family. */
  readonly addresses: readonly UnderlayAddress[];
  /** The smallest MTU of their links, in bytes. */
  readonly mtu: number;
}

/** What chooses the underlay. */
export interface UnderlayOptions {
  /** The link; without it, that of the default route, else the first with a global address. */
  readonly interface?: string;
  /** Both by default. */
  readonly families?: readonly (4 | 6)[];
}

/**
 * Finds the underlay: of each family, one address that other nodes can reach.
 *
 * @param before what was chosen last: an address stays chosen as long as it is there, whatever else comes
 * @throws {RoutingError} UNDERLAY_MISSING when there is no such address of any family
 * @throws {NetlinkError} ENODEV when there is no link of that name
 */
export async function findUnderlay(
  session: KernelSession,
  options: UnderlayOptions = {},
  before?: Underlay,
): Promise<Underlay> {
  const { interface: name, families = [4, 6] } = options;
  const named = name === undefined ? undefined : await session.links.get(name);
  const links = new Map((await session.links.list()).map((link) => [link.index, link]));
  const usable = (await session.addresses.list()).filter((address) => isUsable(address, links));
  const routes = named === undefined ? await session.routes.list({ table: MAIN }) : [];
  const addresses = families.flatMap((family) => {
    const ofFamily = usable.filter(({ prefix }) => prefix.family === family);
    const candidates = named === undefined ? ofFamily : ofFamily.filter(({ link }) => link === named.index);
    const chosen =
      candidates.find(({ prefix }) => before?.addresses.some((each) => each.prefix.equals(prefix))) ??
      onDefaultRoute(candidates, routes) ??
      candidates[0];
    if (chosen === undefined) return [];
    const { prefix, link } = chosen;
    return [{ prefix, link, linkName: links.get(link)?.name ?? `#${link}` }];
  });
  if (addresses.length === 0) throw missing(name, families);
  const mtu = Math.min(...addresses.map(({ link }) => links.get(link)?.mtu ?? Number.POSITIVE_INFINITY));
  return { addresses, mtu };
}

/** Whether two say the same. */
export function sameUnderlay(a: Underlay, b: Underlay): boolean {
  return (
    a.mtu === b.mtu &&
    a.addresses.length === b.addresses.length &&
    a.addresses.every((one, index) => {
      const other = b.addresses[index];
      return other !== undefined && one.link === other.link && one.prefix.equals(other.prefix);
    })
  );
}

const MAIN = 254;
/** IFA_F_SECONDARY (of IPv6: temporary), IFA_F_DADFAILED, IFA_F_DEPRECATED, IFA_F_TENTATIVE — linux/if_addr.h */
const UNUSABLE = 0x01 | 0x08 | 0x20 | 0x40;

function isUsable(
  { prefix: { addr }, link, flags, protocol }: Address,
  links: ReadonlyMap<number, Link>,
): boolean {
  const on = links.get(link);
  return (
    on?.up === true &&
    on.group !== LINK_GROUPS.cluster &&
    protocol !== ROUTE_PROTOCOL &&
    addr.isGlobalUnicast &&
    !(flags & UNUSABLE)
  );
}

/** The address by which packets leave for everywhere: where there are several ways, the one with the least metric. */
function onDefaultRoute(candidates: readonly Address[], routes: readonly Route[]): Address | undefined {
  const defaults = routes
    .filter(({ dst, type }) => dst.bits === 0 && type === 'unicast')
    .sort((a, b) => (a.metric ?? 0) - (b.metric ?? 0));
  for (const { link, source, nexthops } of defaults) {
    const by = link ?? nexthops?.[0]?.link;
    const there = candidates.filter((address) => address.link === by);
    const preferred = there.find(({ prefix }) => source !== undefined && prefix.addr.equals(source));
    const chosen = preferred ?? there.sort((a, b) => Addr.compare(a.prefix.addr, b.prefix.addr))[0];
    if (chosen !== undefined) return chosen;
  }
  return undefined;
}

function missing(name: string | undefined, families: readonly (4 | 6)[]): RoutingError {
  const what = `global address of ${families.map((family) => `IPv${family}`).join(' or ')}`;
  const message =
    name === undefined ? `no link that is up has a ${what}` : `link ${name} is down, or has no ${what}`;
  const hint = 'other nodes reach this one by it; name the interface, or give it an address';
  return new RoutingError('UNDERLAY_MISSING', message, { hint });
}
