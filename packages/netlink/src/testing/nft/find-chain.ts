import { hookNumbers } from '../../nft/write-objects.ts';
import { refuse } from '../core/refusal.ts';
import type { ChainRecord, TableRecord } from './records.ts';

/** The chain of that name. */
export function needChain(table: TableRecord, name: string | undefined): ChainRecord {
  return (name === undefined ? undefined : table.chains.get(name)) ?? refuse('ENOENT');
}

/** Whether packets enter it. */
export function isBase({ attributes }: ChainRecord): boolean {
  return attributes.hook !== undefined;
}

/** The name of a base chain's hook. */
export function hookOf(
  { family }: TableRecord,
  { hook }: Partial<ChainRecord['attributes']>,
): string | undefined {
  return Object.entries(hookNumbers(family)).find(([, number]) => number === hook?.number)?.[0];
}
