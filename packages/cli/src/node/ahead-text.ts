import type { NodeReserveStatus } from '@heddle/agent';

/** How far ahead of its need a node is, for people. */
export function aheadText(reserves: readonly NodeReserveStatus[]): string {
  return reserves
    .map(
      ({ family, free, isBehind }) => `${free} of IPv${family} free${isBehind ? ', fewer than wanted' : ''}`,
    )
    .join('; ');
}
