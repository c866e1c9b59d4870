/** The elements in a message, checked against their set — nft_add_set_elem in net/netfilter/nf_tables_api.c */
import { NFT_SET_ELEM, type WireElement } from '../../nft/codec/element.ts';
import { NFT_DATA_VERDICT, NFT_SET } from '../../nft/codec/set.ts';
import { Refusal, refuse } from '../core/refusal.ts';
import { checkVerdict } from './expressions.ts';
import type { ElementRecord, SetRecord, TableRecord } from './records.ts';

/** An element as it was asked for, and the place of its item in the message. */
export interface Asked {
  readonly element: ElementRecord;
  readonly at: number;
}

/** The elements of a message. In a set of intervals, a start and the end that follows it are one. */
export function elementsIn(set: SetRecord, items: readonly WireElement[]): Asked[] {
  const found: Asked[] = [];
  for (let at = 0; at < items.length; at++) {
    const item = items[at] as WireElement;
    blaming(at, () => checkKey(set, item));
    if (isEnd(item))
      refuse('EOPNOTSUPP', 'the fake kernel has no ends of intervals without a start in front');
    const next = items[at + 1];
    const takesNext = isPlainInterval(set) && next !== undefined && isEnd(next);
    const behind = takesNext ? next.key?.value : undefined;
    found.push({ at, element: { item, ...(behind && { behind }) } });
    if (takesNext) at++;
  }
  return found;
}

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
export function completed(
  table: TableRecord,
  set: SetRecord,
  { item, behind }: ElementRecord,
): ElementRecord {
  const { flags, dataType, dataLength, timeout: usual, expression } = set.attributes;
  const has = (flag: number) => (flags & flag) !== 0;
  if (has(NFT_SET.MAP) !== (item.data !== undefined)) refuse('EINVAL');
  if (has(NFT_SET.OBJECT) !== (item.object !== undefined)) refuse('EINVAL');
  if (item.object !== undefined && !table.objects.has(item.object)) refuse('ENOENT');
  if (item.data !== undefined) {
    const isVerdict = item.data.verdict !== undefined;
    if (isVerdict !== (dataType === NFT_DATA_VERDICT)) refuse('EINVAL');
    if (!isVerdict && item.data.value?.length !== dataLength) refuse('EINVAL');
    checkVerdict(table, item.data.verdict);
  }
  if (item.timeout !== undefined && !has(NFT_SET.TIMEOUT)) refuse('EINVAL');
  const timeout = item.timeout ?? (has(NFT_SET.TIMEOUT) ? usual : undefined);
  const own = item.expression ?? expression;
  return {
    item: {
      ...item,
      ...(timeout !== undefined && timeout > 0n && { expiration: timeout }),
      ...(own && { expression: own.expr === 'counter' ? { ...ZERO, ...own } : own }),
    },
    ...(behind && { behind }),
  };
}

const ZERO = { bytes: 0n, packets: 0n };

/** What tells an element from all others of its set. */
export function elementKey({ item }: ElementRecord): string {
  if (isCatchAll(item)) return '*';
  const { key, keyEnd } = item;
  return `${key?.value?.join() ?? ''}-${keyEnd?.value?.join() ?? ''}`;
}

/** Whether a set holds intervals of keys that are no concatenations: those it keeps as starts and ends. */
export function isPlainInterval({ attributes: { flags, description } }: SetRecord): boolean {
  return (flags & NFT_SET.INTERVAL) !== 0 && (description?.fields ?? []).length < 2;
}

/** Whether it is the element for what no other matches. */
export function isCatchAll({ flags = 0 }: WireElement): boolean {
  return (flags & NFT_SET_ELEM.CATCHALL) !== 0;
}

function isEnd({ flags = 0 }: WireElement): boolean {
  return (flags & NFT_SET_ELEM.INTERVAL_END) !== 0;
}

function checkKey(set: SetRecord, item: WireElement): void {
  const { keyLength } = set.attributes;
  if (isCatchAll(item)) {
    if (item.key !== undefined || item.keyEnd !== undefined) refuse('EINVAL');
    return;
  }
  if (item.key?.value?.length !== keyLength) refuse('EINVAL');
  if (item.keyEnd !== undefined && item.keyEnd.value?.length !== keyLength) refuse('EINVAL');
  if (isEnd(item) && !isPlainInterval(set)) refuse('EINVAL');
}
