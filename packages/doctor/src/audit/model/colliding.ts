/** Ranges of different networks that get into each other's way. */
import { Addr, type AddrRange } from '@heddle/netaddr';
import type { Network } from './network.ts';
import { boundsOf, bridgeOf, isRouted, masterOf, type Range, rangesOf } from './ranges.ts';

/**
 * The ranges that collide, in groups: each range of a group collides with another one of it, and with none outside. In
 * a group ranges are in the order of their networks.
 */
export function collidingGroups(networks: readonly Network[]): readonly (readonly Range[])[] {
  const claims = networks.flatMap((network) => rangesOf(network)).map(claimOf);
  const leaders = new Map<Claim, Claim>();
  const leaderOf = (claim: Claim): Claim => {
    const above = leaders.get(claim);
    if (above === undefined) return claim;
    const leader = leaderOf(above);
    leaders.set(claim, leader);
    return leader;
  };
  let open: readonly Claim[] = [];
  for (const claim of claims.toSorted((a, b) => Addr.compare(networkOf(a), networkOf(b)))) {
    open = open.filter(({ range }) => range.subnet.overlaps(claim.range.subnet));
    for (const other of open) {
      const [one, another] = [leaderOf(claim), leaderOf(other)];
      if (one !== another && collide(other, claim)) leaders.set(one, another);
    }
    open = [...open, claim];
  }
  return [...Map.groupBy(claims, leaderOf).values()]
    .filter((group) => group.length > 1)
    .map((group) => group.map(({ range }) => range));
}

/** What counts of a range when it is compared with many others. */
interface Claim {
  readonly range: Range;
  readonly bounds: AddrRange | undefined;
  readonly isRouted: boolean;
  readonly bridge: string | undefined;
  /** The link below and the kind of those above it, where addresses must not be given twice. */
  readonly shared: string | undefined;
}

function claimOf(range: Range): Claim {
  const { part } = range;
  const master = part.type === 'vlan' ? undefined : masterOf(part);
  return {
    ...{ range, bounds: boundsOf(range), isRouted: isRouted(part), bridge: bridgeOf(part) },
    shared: master === undefined ? undefined : `${part.type} on ${master}`,
  };
}

function networkOf({ range }: Claim): Addr {
  return range.subnet.network;
}

/** Whether two ranges of different networks get into each other's way. */
function collide(a: Claim, b: Claim): boolean {
  const [mine, other] = [a.range.network, b.range.network];
  // Two files with one name are told of as such.
  if (mine === other || (mine.name !== undefined && mine.name === other.name)) return false;
  const isOneBridge = a.bridge !== undefined && a.bridge === b.bridge;
  if (a.isRouted && b.isRouted && !isOneBridge) return true;
  const isOneLink = a.shared !== undefined && a.shared === b.shared;
  if (!isOneBridge && !isOneLink) return false;
  return a.bounds !== undefined && b.bounds !== undefined && a.bounds.overlaps(b.bounds);
}
