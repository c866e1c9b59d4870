/** From what is known of the cluster to what this node's kernel is to have. */
import type { Affinity } from '@heddle/ipam/blocks';
import type { DesiredObject, DesiredState } from './desired.ts';
import { objectsFor } from './node-objects.ts';
import { needsV6 } from './overlays.ts';
import { ownObjects } from './own-objects.ts';
import { allFaults, SharedAddresses } from './shared-addresses.ts';
import type { ClusterView } from './view.ts';

/**
 * Calculates the whole. It is the specification of what {@link Calculator} does step by step.
 *
 * Where two nodes want the same place, the one with the lesser name has it; this node comes before all others.
 */
export function calculate(view: ClusterView): DesiredState {
  const { own, nodes } = view;
  const pools = new Map(view.pools.map((pool) => [pool.name, pool]));
  const affinities = Map.groupBy(view.affinities, ({ node }) => node);
  const borrowed = Map.groupBy(view.borrowed, ({ holder }) => holder);
  const none: readonly Affinity[] = [];
  const objects = new Map<string, DesiredObject>();
  const unreachable = new Map<string, string>();
  const addresses = new SharedAddresses();
  const add = (object: DesiredObject) => {
    if (!objects.has(object.key)) objects.set(object.key, object);
  };
  const name = own.record.name;
  for (const object of ownObjects(own, pools, affinities.get(name) ?? none, nodes.some(needsV6))) add(object);
  const others = nodes.filter((node) => node.name !== name);
  for (const record of others.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const peer = {
      record,
      affinities: affinities.get(record.name) ?? none,
      borrowed: borrowed.get(record.name) ?? [],
    };
    const found = objectsFor(own, peer, pools);
    for (const object of found.objects) add(object);
    if (found.fault !== undefined) unreachable.set(`node ${record.name}`, found.fault);
  }
  for (const record of [own.record, ...others]) addresses.change(record.name, undefined, record);
  return { objects, faults: allFaults(unreachable, addresses, name) };
}
