/** What is to be known of a set to read and write its elements. */
import { NFT_SET } from './codec/set.ts';
import { type KeyType, padded, typeInfo } from './key-types.ts';
import { encodeKey, type KeyValue } from './key-values.ts';
import type { NftSet } from './model.ts';

/** The types and the kind of a set. */
export interface SetTypes {
  readonly key: readonly KeyType[];
  readonly data: readonly KeyType[] | 'verdict' | 'counter' | undefined;
  readonly intervals: boolean;
}

/** The types of a declared set. */
export function typesOfSet({ key, data, intervals }: NftSet): SetTypes {
  return {
    key: listed(key),
    data: data === undefined || data === 'verdict' || data === 'counter' ? data : listed(data),
    intervals: intervals === true,
  };
}

/** The length of a key in the registers: components of a concatenation begin at multiples of four bytes. */
export function keyLength(types: readonly KeyType[]): number {
  const [only] = types;
  if (types.length === 1 && only !== undefined) return typeInfo(only).length;
  return types.reduce((sum, type) => sum + padded(typeInfo(type).length), 0);
}

/** NFT_SET_* of a set of these types. */
export function flagsOf({ key, data, intervals }: SetTypes): number {
  return (
    (intervals ? NFT_SET.INTERVAL : 0) |
    (intervals && key.length > 1 ? NFT_SET.CONCAT : 0) |
    (data === 'counter' ? NFT_SET.OBJECT : data === undefined ? 0 : NFT_SET.MAP)
  );
}

/** What tells a key from all others of its set, however it is written. */
export function identityOf(types: SetTypes, key: KeyValue): string {
  if (key === '*') return key;
  const { start, end } = encodeKey(types.key, key);
  return [start, end ?? start].map((bytes) => bytes.join(',')).join('-');
}

function listed(types: KeyType | readonly KeyType[]): readonly KeyType[] {
  return isList(types) ? types : [types];
}

function isList(types: KeyType | readonly KeyType[]): types is readonly KeyType[] {
  return Array.isArray(types);
}
