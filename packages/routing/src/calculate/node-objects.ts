/** What a kernel must have because of one other node. */
import type { Affinity, Pool } from '@heddle/ipam/blocks';
import { Addr, type Mac, Prefix } from '@heddle/netaddr';
import type { NodeRecord } from '../cluster/records.ts';
import { type DesiredObject, desiredFdb, desiredNeighbour, desiredRoute } from './desired.ts';
import { deviceMtu, overheadOf } from './overlays.ts';
import { type Path, pathTo } from './path.ts';
import type { Borrowed, OwnNode } from './view.ts';

/** What is known of another node. */
export interface Peer {
  readonly record: NodeRecord;
  readonly affinities: Iterable<Affinity>;
  /** What it holds in blocks of others. */
  readonly borrowed: Iterable<Borrowed>;
}

/** What follows from it. */
export interface PeerObjects {
  readonly objects: readonly DesiredObject[];
  /** Why its blocks, or some of them, cannot be reached by us. */
  readonly fault?: string;
}

/** See the file's comment. */
export function objectsFor(own: OwnNode, peer: Peer, pools: ReadonlyMap<string, Pool>): PeerObjects {
  const objects = new Map<string, DesiredObject>();
  const paths = new Map<Pool, Path>();
  let fault: string | undefined;
  const add = (object: DesiredObject) => objects.set(object.key, object);
  const lead = (dst: Prefix, poolName: string) => {
    const pool = pools.get(poolName);
    if (pool === undefined) return;
    const path = paths.get(pool) ?? pathTo(own, peer.record, pool);
    paths.set(pool, path);
    if (path.kind === 'none') fault = path.reason;
    else if (path.kind === 'direct') add(directRoute(own, peer.record, dst, path));
    else for (const object of overlayObjects(own, peer.record, dst, path)) add(object);
  };
  for (const { pool, cidr, state } of peer.affinities) if (state === 'confirmed') lead(cidr, pool);
  for (const { addr, pool } of peer.borrowed) lead(Prefix.host(addr), pool);
  return { objects: [...objects.values()], ...(fault !== undefined && { fault }) };
}

function directRoute(
  { record: own }: OwnNode,
  peer: NodeRecord,
  dst: Prefix,
  { link, gateway }: Path & { readonly kind: 'direct' },
): DesiredObject {
  return desiredRoute(dst, { type: 'direct', link, gateway }, smaller(peer.mtu, own.mtu));
}

function overlayObjects(
  { record: own }: OwnNode,
  peer: NodeRecord,
  dst: Prefix,
  { device, local, remote }: Path & { readonly kind: 'overlay' },
): readonly DesiredObject[] {
  const { name, overlay } = device;
  const room = Math.min(own.mtu, peer.mtu) - overheadOf(overlay, remote.family);
  const mtu = smaller(room, deviceMtu(own, device));
  if (overlay === 'ipip') return [desiredRoute(dst, { type: 'overlay', device: name, gateway: remote }, mtu)];
  const { mac, addresses } = peer.tunnel;
  const gateway = addresses.find(({ family }) => family === dst.family) ?? linkLocalOf(mac);
  const neighbour = desiredNeighbour(name, gateway, mac);
  if (overlay === 'geneve') {
    const tunnel = { local, remote };
    return [neighbour, desiredRoute(dst, { type: 'overlay', device: name, gateway, tunnel }, mtu)];
  }
  return [
    neighbour,
    desiredFdb(name, mac, remote),
    desiredRoute(dst, { type: 'overlay', device: name, gateway }, mtu),
  ];
}

/** What stands in for a tunnel address that a node does not have (yet). */
function linkLocalOf(mac: Mac): Addr {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0] = mac.toBytes();
  const interfaceId = [b0 ^ 0x02, b1, b2, 0xff, 0xfe, b3, b4, b5];
  return Addr.fromBytes(Uint8Array.of(0xfe, 0x80, 0, 0, 0, 0, 0, 0, ...interfaceId));
}

function smaller(mtu: number, usual: number): number | undefined {
  return mtu < usual ? mtu : undefined;
}
