/** A small ruleset for tests against the real kernel. */

import type { TestNetns } from '../testing/test-netns.ts';
import { add, chain, counter, map, type NftChange, set, table } from './changes.ts';
import { formatKey } from './key-values.ts';
import type { NftElement } from './model.ts';

/** Where the objects are. */
export const T = { family: 'inet', table: 'hd' } as const;
export const TABLE = table({ family: 'inet', name: 'hd' });
export const PORTS = map({
  ...T,
  name: 'ports',
  key: ['ipv4_addr', 'inet_proto', 'inet_service'],
  data: ['ipv4_addr', 'inet_service'],
});
export const POLICY = map({
  ...T,
  name: 'policy',
  key: ['ipv4_addr', 'ipv4_addr'],
  data: 'verdict',
  intervals: true,
});
export const NODES6 = set({ ...T, name: 'nodes6', key: 'ipv6_addr', intervals: true });
export const HITS = counter({ ...T, name: 'hits' });

/** A chain that is entered by jumps. */
export function regular(name: string): NftChange {
  return add(chain({ ...T, name }));
}

/** Puts everything in place, with the chains c and d. */
export async function prepared(lab: TestNetns): Promise<void> {
  await lab.session.nft.commit([
    add(TABLE),
    regular('c'),
    regular('d'),
    ...[PORTS, POLICY, NODES6, HITS].map(add),
  ]);
}

/** Orders elements. */
export function byText(a: NftElement, b: NftElement): number {
  return `${a.set} ${formatKey(a.key)}`.localeCompare(`${b.set} ${formatKey(b.key)}`);
}
