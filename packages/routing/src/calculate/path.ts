/** How packets for a pool's addresses get from this node to another one. */
import type { Pool } from '@heddle/ipam/blocks';
import type { Addr, Prefix } from '@heddle/netaddr';
import type { NodeRecord } from '../cluster/records.ts';
import { commonFamily, deviceOver, type OverlayDevice } from './overlays.ts';
import type { OwnNode } from './view.ts';

/** See the file's comment. */
export type Path =
  /** Both are on one segment. */
  | { readonly kind: 'direct'; readonly link: number; readonly gateway: Addr }
  | { readonly kind: 'overlay'; readonly device: OverlayDevice; readonly local: Addr; readonly remote: Addr }
  /** Not by us. */
  | { readonly kind: 'none'; readonly reason: string };

/** Which way it is. */
export function pathTo(own: OwnNode, peer: NodeRecord, pool: Pool): Path {
  const { encapsulation, cidr } = pool;
  if (encapsulation !== 'always') {
    const direct = directPath(own, peer, cidr.family);
    if (direct !== undefined) return direct;
    if (encapsulation === 'never') {
      const reason = `it shares no segment with this node, and pool ${pool.name} is never encapsulated: the routers between must know its blocks`;
      return { kind: 'none', reason };
    }
  }
  return overlayPath(own, peer, pool);
}

/** IPv4 goes by gateways of either family, IPv6 by its own only. */
function directPath({ underlay, record }: OwnNode, peer: NodeRecord, family: 4 | 6): Path | undefined {
  const gateways: readonly (4 | 6)[] = family === 4 ? [4, 6] : [6];
  for (const each of gateways) {
    const [own, other] = [addressOf(record, each), addressOf(peer, each)];
    if (own === undefined || other === undefined || !sharesSegment(own, other)) continue;
    const on = underlay.addresses.find(({ prefix }) => prefix.family === each);
    if (on !== undefined) return { kind: 'direct', link: on.link, gateway: other.addr };
  }
  return undefined;
}

function overlayPath({ record: own }: OwnNode, peer: NodeRecord, { overlay }: Pool): Path {
  const family = commonFamily(own, peer, overlay);
  const local = family && addressOf(own, family);
  const remote = family && addressOf(peer, family);
  if (family === undefined || local === undefined || remote === undefined) {
    const of =
      overlay === 'ipip' ? 'IPv4 address between nodes that IP-in-IP could use' : 'family between nodes';
    return { kind: 'none', reason: `it has no ${of} in common with this node` };
  }
  return { kind: 'overlay', device: deviceOver(overlay, family), local: local.addr, remote: remote.addr };
}

function addressOf({ underlay }: NodeRecord, family: 4 | 6): Prefix | undefined {
  return underlay.find((prefix) => prefix.family === family);
}

/** A prefix of one address is a segment of its own. */
function sharesSegment(own: Prefix, other: Prefix): boolean {
  return !own.isSingle && own.bits === other.bits && own.contains(other.addr) && !own.addr.equals(other.addr);
}
