/** The elements in a message, checked against their set — nft_add_set_elem in net/netfilter/nf_tables_api.c */
import { NFT_SET_ELEM } from '../../nft/codec/element.ts';
import { NFT_DATA_VERDICT, NFT_SET } from '../../nft/codec/set.ts';
import { Refusal, refuse } from '../core/refusal.ts';
import { checkVerdict } from './expressions.ts';
import type { ElementRecord, SetRecord, TableRecord } from './records.ts';

/** Refuses with the place of an item, as the kernel points at it. */
export function blaming<T>(at: number, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Refusal && error.item === undefined) throw error.about(at);
    throw error;
  }
}

/** Checks what an element brings beside its key, and fills in what its set gives to all. */
export function completed(table: TableRecord, set: SetRecord, item: ElementRecord): ElementRecord {
  const { flags, timeout: usual, expression } = set.attributes;
  const has = (flag: number) => (flags & flag) !== 0;
  if (isEnd(item)) {
    if (item.data !== undefined || item.object !== undefined) refuse('EINVAL');
    return item;
  }
  checkValue(table, set, item);
  if (item.timeout !== undefined && !has(NFT_SET.TIMEOUT)) refuse('EINVAL');
  const timeout = item.timeout ?? (has(NFT_SET.TIMEOUT) ? usual : undefined);
  const own = item.expression ?? expression;
  return {
    ...item,
    ...(timeout !== undefined && timeout > 0n && { expiration: timeout }),
    ...(own && { expression: own.expr === 'counter' ? { ...ZERO, ...own } : own }),
  };
}

function checkValue(table: TableRecord, set: SetRecord, { data, object }: ElementRecord): void {
  const { flags, dataType, dataLength } = set.attributes;
  if (((flags & NFT_SET.MAP) !== 0) !== (data !== undefined)) refuse('EINVAL');
  if (((flags & NFT_SET.OBJECT) !== 0) !== (object !== undefined)) refuse('EINVAL');
  if (object !== undefined && !table.objects.has(object)) refuse('ENOENT');
  if (data === undefined) return;
  const isVerdict = data.verdict !== undefined;
  if (isVerdict !== (dataType === NFT_DATA_VERDICT)) refuse('EINVAL');
  if (!isVerdict && data.value?.length !== dataLength) refuse('EINVAL');
  checkVerdict(table, data.verdict);
}

const ZERO = { bytes: 0n, packets: 0n };

/** What tells an element from all others of its set. */
export function elementKey(item: ElementRecord): string {
  if (isCatchAll(item)) return '*';
  const { key, keyEnd } = item;
  return `${key?.value?.join() ?? ''}-${keyEnd?.value?.join() ?? ''}${isEnd(item) ? ' end' : ''}`;
}

/** Whether a set holds intervals of keys that are no concatenations: those it keeps as starts and ends. */
export function isPlainInterval({ attributes: { flags, description } }: SetRecord): boolean {
  return (flags & NFT_SET.INTERVAL) !== 0 && (description?.fields ?? []).length < 2;
}

/** Whether it is the element for what no other matches. */
export function isCatchAll({ flags = 0 }: ElementRecord): boolean {
  return (flags & NFT_SET_ELEM.CATCHALL) !== 0;
}

/** Whether it is the end of an interval. */
export function isEnd({ flags = 0 }: ElementRecord): boolean {
  return (flags & NFT_SET_ELEM.INTERVAL_END) !== 0;
}

/** Checks that a key is one of the set's. */
export function checkKey(set: SetRecord, item: ElementRecord): void {
  const { keyLength } = set.attributes;
  if (isCatchAll(item)) {
    if (item.key !== undefined || item.keyEnd !== undefined) refuse('EINVAL');
    return;
  }
  if (item.key?.value?.length !== keyLength) refuse('EINVAL');
  if (item.keyEnd !== undefined && item.keyEnd.value?.length !== keyLength) refuse('EINVAL');
  if (isEnd(item) && !isPlainInterval(set)) refuse('EINVAL');
}
