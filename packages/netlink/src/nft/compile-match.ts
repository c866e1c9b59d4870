/** Matches and look-ups. */
import { AddrRange, Prefix } from '@heddle/netaddr';
import { type CompileContext, FIRST_REGISTER, textOf } from './compile-context.ts';
import { type KeyType, type Scalar, type TypeInfo, typeInfo } from './key-types.ts';
import { endsOf, formatKey, isInterval, type KeyPart, type KeyValue, partsOf } from './key-values.ts';
import { NftError } from './nft-error.ts';
import type { Field } from './operands.ts';
import type { MatchValue, SetRef, Statement } from './statements.ts';

type Match = Extract<Statement, { kind: 'match' }>;
type Vmap = Extract<Statement, { kind: 'vmap' }>;

/** Appends a match. */
export function compileMatch(context: CompileContext, match: Match): void {
  const { left, op, right } = match;
  if (isSetRef(right)) {
    context.load(left);
    return lookup(context, { set: right.name }, inverted(match));
  }
  const list = listOf(match);
  if (list !== undefined) {
    if (left.kind === 'field' && typeInfo(left.type).bits)
      return compileBits(context, left, list, inverted(match));
    const key = context.load(left);
    const intervals = list.some((each) => partsOf(each).some(isInterval));
    const elements = list.map((each) => ({ key: each }));
    return lookup(context, context.addSet({ key, verdicts: false, intervals, elements }), inverted(match));
  }
  if (left.kind === 'concat')
    throw new NftError(`${textOf(left)} ${op} ${describe(right)}: needs a tuple or a set`);
  const value = right as KeyPart;
  if (op === 'in' || op === 'notin') {
    throw new NftError(`${textOf(left)} ${op} ${describe(right)}: needs a list or a set`);
  }
  if (isInterval(value) && (op === 'eq' || op === 'ne')) return compileInterval(context, match, value);
  if (isWildcard(left, value)) return compileWildcard(context, left as Field, op, value);
  context.load(left);
  const field = left.kind === 'masked' ? left.field : left;
  const info = typeInfo(field.type);
  const scalar = value instanceof Prefix ? value.addr : value;
  if (isInterval(scalar))
    throw new NftError(`${textOf(left)} ${op} ${formatKey(value)}: needs a single value`);
  const bytes = info.encode(scalar as Scalar);
  const ordered = op === 'eq' || op === 'ne' ? bytes : inOrder(context, info, bytes);
  context.compare(op, ordered);
  if (op === 'eq' && left.kind === 'field') context.learn(field, bytes);
}

/** Appends a look-up of a verdict. */
export function compileVmap(context: CompileContext, { key, map }: Vmap): void {
  const types = context.load(key);
  if (typeof map === 'string') {
    return context.emit({ expr: 'lookup', sreg: FIRST_REGISTER, dreg: VERDICT_REGISTER, set: map });
  }
  const elements = map.map((entry) => ({ key: entry.key, data: entry.verdict }));
  const intervals = map.some((entry) => partsOf(entry.key).some(isInterval));
  const set = context.addSet({ key: types, verdicts: true, intervals, elements });
  context.emit({ expr: 'lookup', sreg: FIRST_REGISTER, dreg: VERDICT_REGISTER, ...set });
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

function compileInterval(context: CompileContext, { left, op }: Match, value: KeyPart): void {
  const field = left.kind === 'field' ? left : undefined;
  if (field === undefined) throw new NftError(`${formatKey(value)}: a masked field has no intervals`);
  const info = typeInfo(field.type);
  const [first, last] = endsOf(info, value);
  if (value instanceof Prefix) return comparePrefix(context, field, op as 'eq' | 'ne', value);
  context.load(field);
  if (op === 'eq') {
    context.compare('ge', first);
    context.compare('le', last);
  } else {
    context.emit({
      expr: 'range',
      sreg: FIRST_REGISTER,
      op: 'ne',
      from: { value: first },
      to: { value: last },
    });
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
function compileWildcard(context: CompileContext, field: Field, op: Match['op'], value: string): void {
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

function isWildcard(left: Match['left'], value: KeyPart): value is string {
  const named = left.kind === 'field' && (left.type satisfies KeyType) === 'ifname';
  return named && typeof value === 'string' && value.length > 1 && value.endsWith('*');
}

function describe(value: MatchValue): string {
  if (isSetRef(value)) return `@${value.name}`;
  if (value instanceof AddrRange) return value.toString();
  return formatKey(value as KeyValue);
}
