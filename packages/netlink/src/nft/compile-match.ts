/** Matches and look-ups. */
import { type AddrRange, Prefix } from '@heddle/netaddr';
import { type CompileContext, FIRST_REGISTER, textOf } from './compile-context.ts';
import { type Scalar, type TypeInfo, typeInfo } from './key-types.ts';
import {
  endsOf,
  formatKey,
  isInterval,
  type KeyPart,
  type KeyRange,
  type KeyValue,
  partsOf,
} from './key-values.ts';
import { NftError } from './nft-error.ts';
import type { Field, Masked } from './operands.ts';
import type { MatchValue, SetRef, Statement } from './statements.ts';

type Match = Extract<Statement, { kind: 'match' }>;
type Vmap = Extract<Statement, { kind: 'vmap' }>;
type Comparison = Exclude<Match['op'], 'in' | 'notin'>;

/** Appends a match. */
export function compileMatch(context: CompileContext, match: Match): void {
  const { left, right } = match;
  const list = listOf(match);
  if (isSetRef(right)) {
    context.load(left);
    lookup(context, { set: right.name }, inverted(match));
  } else if (list !== undefined) compileList(context, match, list);
  else compileValue(context, match, right as KeyPart);
}

/** Appends a look-up of a verdict. */
export function compileVmap(context: CompileContext, { key, map }: Vmap): void {
  const types = context.load(key);
  const verdict = { expr: 'lookup', sreg: FIRST_REGISTER, dreg: VERDICT_REGISTER } as const;
  if (typeof map === 'string') context.emit({ ...verdict, set: map });
  else {
    const elements = map.map((entry) => ({ key: entry.key, data: entry.verdict }));
    const intervals = map.some((entry) => partsOf(entry.key).some(isInterval));
    context.emit({ ...verdict, ...context.addSet({ key: types, verdicts: true, intervals, elements }) });
  }
}

const VERDICT_REGISTER = 0;

/** NFT_LOOKUP_F_INV */
const INVERTED = 1;

function lookup(
  context: CompileContext,
  set: { readonly set: string; readonly setId?: number },
  not: boolean,
): void {
  context.emit({ expr: 'lookup', sreg: FIRST_REGISTER, ...set, ...(not ? { flags: INVERTED } : {}) });
}

function compileList(context: CompileContext, match: Match, list: readonly KeyValue[]): void {
  const { left } = match;
  if (left.kind === 'field' && typeInfo(left.type).bits) {
    compileBits(context, left, list, inverted(match));
  } else {
    const key = context.load(left);
    const intervals = list.some((each) => partsOf(each).some(isInterval));
    const elements = list.map((each) => ({ key: each }));
    lookup(context, context.addSet({ key, verdicts: false, intervals, elements }), inverted(match));
  }
}

function compileValue(context: CompileContext, match: Match, value: KeyPart): void {
  const { left, op } = match;
  if (left.kind === 'concat')
    throw new NftError(`${textOf(left)} ${op} ${formatKey(value)}: needs a tuple or a set`);
  if (op === 'in' || op === 'notin') {
    throw new NftError(`${textOf(left)} ${op} ${formatKey(value)}: needs a list or a set`);
  }
  if (isInterval(value)) compileInterval(context, left, op, value);
  else if (isWildcard(left, value)) compileWildcard(context, left, op, value as string);
  else compileScalar(context, left, op, value instanceof Prefix ? value.addr : (value as Scalar));
}

function compileScalar(context: CompileContext, left: Field | Masked, op: Comparison, value: Scalar): void {
  const field = left.kind === 'masked' ? left.field : left;
  const info = typeInfo(field.type);
  const bytes = info.encode(value);
  context.load(left);
  context.compare(op, op === 'eq' || op === 'ne' ? bytes : inOrder(context, info, bytes));
  if (op === 'eq' && left.kind === 'field') context.learn(field, bytes);
}

/** Any of some bits: `ct state established,related`. */
function compileBits(context: CompileContext, field: Field, list: readonly KeyValue[], not: boolean): void {
  const info = typeInfo(field.type);
  const mask = new Uint8Array(info.length);
  for (const value of list) {
    const bits = info.encode(value as Scalar);
    for (let at = 0; at < mask.length; at++) mask[at] = (mask[at] as number) | (bits[at] as number);
  }
  context.load(field);
  context.mask(mask);
  context.compare(not ? 'eq' : 'ne', new Uint8Array(info.length));
}

function compileInterval(
  context: CompileContext,
  left: Field | Masked,
  op: Comparison,
  value: Prefix | AddrRange | KeyRange,
): void {
  if (left.kind === 'masked') throw new NftError(`${formatKey(value)}: a masked field has no intervals`);
  if (op !== 'eq' && op !== 'ne')
    throw new NftError(`${left.text} ${op} ${formatKey(value)}: needs a single value`);
  const [first, last] = endsOf(typeInfo(left.type), value);
  if (value instanceof Prefix) comparePrefix(context, left, op, value);
  else if (op === 'eq') {
    context.load(left);
    context.compare('ge', first);
    context.compare('le', last);
  } else {
    context.load(left);
    context.emit({ expr: 'range', sreg: FIRST_REGISTER, op, from: { value: first }, to: { value: last } });
  }
}

/** As `nft` does it: whole bytes are loaded short, the rest is masked. */
function comparePrefix(context: CompileContext, field: Field, op: 'eq' | 'ne', prefix: Prefix): void {
  const network = prefix.network.toBytes();
  const length = prefix.bits / 8;
  if (Number.isInteger(length) && length > 0 && field.load.expr === 'payload') {
    context.require(field);
    context.emit({ ...field.load, length, dreg: FIRST_REGISTER });
    context.compare(op, network.subarray(0, length));
  } else {
    context.load(field);
    context.mask(prefix.mask().toBytes());
    context.compare(op, network);
  }
}

/** `eth*`: the comparison covers but the characters that are given. */
function compileWildcard(context: CompileContext, field: Field, op: Comparison, value: string): void {
  if (op !== 'eq' && op !== 'ne')
    throw new NftError(`${field.text} ${op} ${value}: a wildcard is but equal or not`);
  context.load(field);
  context.compare(
    op,
    typeInfo(field.type)
      .encode(value.slice(0, -1))
      .subarray(0, value.length - 1),
  );
}

/** Turns the register's value into network order where it is not, since it is compared byte by byte. */
function inOrder(context: CompileContext, info: TypeInfo, bytes: Uint8Array): Uint8Array {
  if (info.order !== 'host' || info.length === 1) return bytes;
  context.emit({
    expr: 'byteorder',
    sreg: FIRST_REGISTER,
    dreg: FIRST_REGISTER,
    op: 'hton',
    length: info.length,
    size: info.length,
  });
  return HOST_IS_LITTLE ? bytes.toReversed() : bytes;
}

const HOST_IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** The alternatives of a match; `undefined` where its right side is one value. */
function listOf({ left, right }: Match): readonly KeyValue[] | undefined {
  if (!Array.isArray(right)) return undefined;
  const values = right as readonly KeyValue[];
  if (values.length === 0) throw new NftError(`${textOf(left)}: an empty list matches nothing`);
  // A tuple for a concatenation is one key, and stands for the list of it.
  if (left.kind === 'concat' && !Array.isArray(values[0])) return [values as KeyValue];
  return values;
}

function inverted({ left, op, right }: Match): boolean {
  if (op === 'in' || op === 'eq') return false;
  if (op === 'notin' || op === 'ne') return true;
  throw new NftError(`${textOf(left)} ${op} ${describe(right)}: a set has no order`);
}

function isSetRef(value: MatchValue): value is SetRef {
  return (
    typeof value === 'object' &&
    !Array.isArray(value) &&
    'kind' in value &&
    (value as SetRef).kind === 'set-ref'
  );
}

function isWildcard(left: Field | Masked, value: KeyPart): left is Field {
  if (left.kind !== 'field' || left.type !== 'ifname' || typeof value !== 'string') return false;
  return value.length > 1 && value.endsWith('*');
}

function describe(value: MatchValue): string {
  return isSetRef(value) ? `@${value.name}` : formatKey(value as KeyValue);
}
