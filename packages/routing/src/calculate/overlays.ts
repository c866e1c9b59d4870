/** The overlay devices of a node, and what they cost. */
import type { Overlay, Pool } from '@heddle/ipam/blocks';
import type { NodeRecord } from '../cluster/records.ts';

/** An overlay device: there is at most one of each. */
export interface OverlayDevice {
  readonly name: string;
  readonly overlay: Overlay;
  /** The families of the addresses that its packets travel between. */
  readonly families: readonly (4 | 6)[];
}

/** All devices that there can be. A VXLAN device sends from one address, so it has one family. */
export const OVERLAY_DEVICES: readonly OverlayDevice[] = [
  { name: 'heddle-vxlan', overlay: 'vxlan', families: [4] },
  { name: 'heddle-vxlan6', overlay: 'vxlan', families: [6] },
  { name: 'heddle-geneve', overlay: 'geneve', families: [4, 6] },
  { name: 'heddle-ipip', overlay: 'ipip', families: [4] },
];

/** Outer Ethernet is the link's own; what is inside has an Ethernet header of its own, but for IP-in-IP. */
const IP_HEADER = { 4: 20, 6: 40 } as const;
const UDP_HEADER = 8;
/** VXLAN's header, and Geneve's without options. */
const TUNNEL_HEADER = 8;
const ETHERNET_HEADER = 14;

/**
 * By how much packets in an overlay are smaller than those of the link below, in bytes.
 *
 * @example overheadOf('vxlan', 4) // 50
 */
export function overheadOf(overlay: Overlay, underlay: 4 | 6): number {
  const ip = IP_HEADER[underlay];
  return overlay === 'ipip' ? ip : ip + UDP_HEADER + TUNNEL_HEADER + ETHERNET_HEADER;
}

/** Whether a node has an address of the family between nodes. */
function hasUnderlay({ underlay }: Pick<NodeRecord, 'underlay'>, family: 4 | 6): boolean {
  return underlay.some((prefix) => prefix.family === family);
}

/** The family that two nodes' encapsulated packets travel by; IPv4 where both have it. */
export function commonFamily(own: NodeRecord, peer: NodeRecord, overlay: Overlay): 4 | 6 | undefined {
  const both = (family: 4 | 6) => hasUnderlay(own, family) && hasUnderlay(peer, family);
  if (both(4)) return 4;
  return overlay !== 'ipip' && both(6) ? 6 : undefined;
}

/** Whether a peer can be reached over IPv6 only, by a node that has both. */
export function needsV6(peer: NodeRecord): boolean {
  return hasUnderlay(peer, 6) && !hasUnderlay(peer, 4);
}

/**
 * The devices that a node needs.
 *
 * @param withV6 whether there is a peer that can be reached over IPv6 only
 */
export function devicesFor(
  own: NodeRecord,
  pools: Iterable<Pool>,
  withV6: boolean,
): readonly OverlayDevice[] {
  const overlays = new Set<Overlay>();
  for (const { encapsulation, overlay } of pools) if (encapsulation !== 'never') overlays.add(overlay);
  return OVERLAY_DEVICES.filter(({ overlay, families }) => {
    if (!overlays.has(overlay)) return false;
    const usable = families.filter((family) => hasUnderlay(own, family));
    if (usable.length === 0) return false;
    // The second device of a kind is there only if somebody cannot be reached by the first.
    return overlay !== 'vxlan' || families[0] === 4 || withV6 || !hasUnderlay(own, 4);
  });
}

/** The device that leads to a peer over this family. */
export function deviceOver(overlay: Overlay, family: 4 | 6): OverlayDevice {
  const found = OVERLAY_DEVICES.find((each) => each.overlay === overlay && each.families.includes(family));
  if (found === undefined) throw new Error(`${overlay} does not travel by IPv${family}`);
  return found;
}

/** The MTU of a device, in bytes. */
export function deviceMtu(own: NodeRecord, { overlay, families }: OverlayDevice): number {
  const family = families.includes(4) && hasUnderlay(own, 4) ? 4 : 6;
  return own.mtu - overheadOf(overlay, family);
}

/**
 * The MTU of a pod with an address from the pool, in bytes: what goes to any other node of the kind without being
 * cut. Underlays of both families are reckoned as IPv4: a peer that has only the other one is told of by the kernel.
 */
export function podMtu(
  own: Pick<NodeRecord, 'underlay' | 'mtu'>,
  pool: Pick<Pool, 'encapsulation' | 'overlay'>,
): number {
  if (pool.encapsulation === 'never') return own.mtu;
  return own.mtu - overheadOf(pool.overlay, hasUnderlay(own, 4) ? 4 : 6);
}
