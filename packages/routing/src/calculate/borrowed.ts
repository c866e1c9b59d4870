import type { Block } from '@heddle/ipam/blocks';
import type { Borrowed } from './view.ts';

/** The addresses of a block that are held on another node than the block's own. */
export function borrowedIn({ cidr, pool, node, held }: Block): readonly Borrowed[] {
  const borrowed: Borrowed[] = [];
  for (const { ordinal, node: holder } of held) {
    const addr = holder === node ? undefined : cidr.network.add(ordinal);
    if (addr !== undefined) borrowed.push({ addr, pool, holder });
  }
  return borrowed;
}
