/** The status, from what a router works with. */
import type { Affinity } from '@heddle/ipam/blocks';
import type { Calculator } from './calculate/calculator.ts';
import { deviceMtu, OVERLAY_DEVICES, podMtu } from './calculate/overlays.ts';
import { pathTo } from './calculate/path.ts';
import type { Feed } from './feed.ts';
import type { PathStatus, PeerStatus, RoutingProblem, RoutingStatus } from './status.ts';

/** What a status is drawn up from. */
export interface StatusSources {
  readonly calculator: Calculator;
  readonly feed: Feed;
  /** By node, in milliseconds since the epoch. */
  readonly lastChange: ReadonlyMap<string, number>;
  readonly problems: readonly RoutingProblem[];
  readonly lastResync?: number;
}

/** Draws it up. */
export function statusOf(sources: StatusSources): RoutingStatus {
  const { calculator, feed, problems, lastResync } = sources;
  const { record, underlay } = calculator.own;
  const { objects } = calculator.state();
  return {
    node: record.name,
    underlay: underlay.addresses.map(({ linkName, prefix }) => ({ link: linkName, address: prefix })),
    underlayMtu: record.mtu,
    devices: OVERLAY_DEVICES.filter(({ name }) => objects.has(`link ${name}`)).map((device) => ({
      ...{ name: device.name, overlay: device.overlay, mtu: deviceMtu(record, device) },
      ...(device.overlay !== 'ipip' && { mac: record.tunnel.mac }),
      addresses: record.tunnel.addresses.filter(({ family }) => device.overlay !== 'ipip' || family === 4),
    })),
    pools: [...calculator.pools.values()].map((pool) => {
      const { name, cidr, encapsulation, overlay, natOutgoing } = pool;
      return { name, cidr, encapsulation, overlay, natOutgoing, mtu: podMtu(record, pool) };
    }),
    blocks: confirmed(calculator.blocksOf(record.name)).map(({ cidr }) => cidr),
    peers: [...calculator.nodes.keys()].sort().map((name) => peerOf(sources, name)),
    problems,
    ...(feed.away !== undefined && { storeAway: feed.away }),
    ...(lastResync !== undefined && { lastResync }),
  };
}

function peerOf({ calculator, feed, lastChange }: StatusSources, name: string): PeerStatus {
  return {
    name,
    underlay: calculator.nodes.get(name)?.underlay ?? [],
    blocks: confirmed(calculator.blocksOf(name)).map((affinity) => ({
      cidr: affinity.cidr,
      path: pathOf(calculator, name, affinity),
    })),
    lastChange: lastChange.get(name) ?? 0,
    missing: feed.isHeld(name),
  };
}

function pathOf({ own, nodes, pools }: Calculator, name: string, { pool: poolName }: Affinity): PathStatus {
  const [peer, pool] = [nodes.get(name), pools.get(poolName)];
  if (peer === undefined || pool === undefined)
    return { kind: 'none', reason: `there is no pool ${poolName}` };
  const path = pathTo(own, peer, pool);
  if (path.kind === 'direct') return { kind: 'direct', gateway: path.gateway };
  if (path.kind === 'none') return path;
  return { kind: 'overlay', device: path.device.name, remote: path.remote };
}

function confirmed(affinities: readonly Affinity[]): readonly Affinity[] {
  return affinities.filter(({ state }) => state === 'confirmed');
}
