/** Sets and maps — nf_tables_newset, nf_tables_delset in net/netfilter/nf_tables_api.c */
import { decode, encode } from '@heddle/wire';
import { NLM_F } from '../../core/header.ts';
import type { Reply } from '../../core/message.ts';
import { NFT_MSG, nftType } from '../../nft/codec/nfgenmsg.ts';
import { NFT_SET, setMessage } from '../../nft/codec/set.ts';
import { refuse, refuseUnknown } from '../core/refusal.ts';
import { type Change, type ChangeRequest, nextHandle, resourceOf } from './change.ts';
import type { Ruleset, SetRecord, TableRecord } from './records.ts';
import { isSetUsed } from './references.ts';

/** Makes a set, or finds one just like it there. */
export const newSet: Change = (transaction, { flags, body }) => {
  const { family, attributes } = read(body);
  const { name, keyLength, id } = attributes;
  if (name === undefined || keyLength === undefined || id === undefined) refuse('EINVAL');
  if (keyLength === 0 || keyLength > KEY_MAX) refuse('EINVAL');
  const table = transaction.table(family, attributes.table);
  const { unknown: _, table: _table, id: _id, handle: _handle, ...kept } = attributes;
  const wanted = { ...kept, name, flags: attributes.flags ?? 0 };
  checkKind(wanted);
  const isAnonymous = (wanted.flags & NFT_SET.ANONYMOUS) !== 0;
  const present = table.sets.get(name);
  if (present !== undefined && !isAnonymous) {
    if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
    if ((flags & NLM_F.REPLACE) !== 0) refuse('EOPNOTSUPP');
    if (!isSame(present.attributes, wanted)) refuse('EEXIST');
    transaction.nameSet(table, id, name);
    return;
  }
  if ((flags & NLM_F.CREATE) === 0) refuse('ENOENT');
  const given = isAnonymous ? freeName(table, name) : name;
  const set: SetRecord = {
    handle: nextHandle(table),
    attributes: { ...wanted, name: given },
    elements: new Map(),
  };
  table.sets.set(given, set);
  transaction.nameSet(table, id, given);
  transaction.tell(describeSet(table, set, transaction.generation));
};

/** Deletes a set with its elements, unless a rule looks into it. */
export const deleteSet: Change = (transaction, { body }) => {
  const { family, attributes } = read(body);
  const table = transaction.table(family, attributes.table);
  const set = transaction.set(table, attributes.name, undefined);
  if (isSetUsed(table, set.attributes.name)) refuse('EBUSY');
  table.sets.delete(set.attributes.name);
  transaction.tell(describeSet(table, set, transaction.generation, NFT_MSG.DELSET));
};

/** All sets of a table, or of a family. */
export function listSets(ruleset: Ruleset, { body }: ChangeRequest): Reply[] {
  const { family, attributes: wanted } = read(body);
  const tables = [...ruleset.tables.values()].filter(
    (table) =>
      (family === 'unspec' || table.family === family) &&
      (wanted.table === undefined || table.name === wanted.table),
  );
  if (wanted.table !== undefined && tables.length === 0) refuse('ENOENT');
  return tables.flatMap((table) =>
    [...table.sets.values()].map((set) => describeSet(table, set, ruleset.generation)),
  );
}

/** One set. */
export function getSet(ruleset: Ruleset, { body }: ChangeRequest): Reply[] {
  const { family, attributes } = read(body);
  const table = ruleset.tables.get(`${family} ${attributes.table}`);
  const set = attributes.name === undefined ? undefined : table?.sets.get(attributes.name);
  if (table === undefined || set === undefined) refuse('ENOENT');
  return [describeSet(table, set, ruleset.generation)];
}

/** NFT_DATA_VALUE_MAXLEN */
const KEY_MAX = 64;

function checkKind({ flags, dataType, dataLength, objectType }: SetRecord['attributes']): void {
  const isMap = (flags & NFT_SET.MAP) !== 0;
  const isObjects = (flags & NFT_SET.OBJECT) !== 0;
  if (isMap && isObjects) refuse('EOPNOTSUPP');
  if (
    (flags & (NFT_SET.ANONYMOUS | NFT_SET.TIMEOUT | NFT_SET.EVAL)) ===
    (NFT_SET.ANONYMOUS | NFT_SET.TIMEOUT)
  )
    refuse('EOPNOTSUPP');
  if (isMap !== (dataType !== undefined)) refuse('EINVAL');
  if (isMap && dataType !== VERDICT && (dataLength ?? 0) === 0) refuse('EINVAL');
  if (isObjects !== (objectType !== undefined)) refuse('EINVAL');
}

/** NFT_DATA_VERDICT */
const VERDICT = 0xffff_ff00;

/** nft_set_is_same: what a set is cannot be changed. */
function isSame(a: SetRecord['attributes'], b: SetRecord['attributes']): boolean {
  return (
    a.flags === b.flags &&
    a.keyType === b.keyType &&
    a.keyLength === b.keyLength &&
    (a.dataType ?? 0) === (b.dataType ?? 0) &&
    (a.dataLength ?? 0) === (b.dataLength ?? 0) &&
    (a.objectType ?? 0) === (b.objectType ?? 0) &&
    expressionOf(a) === expressionOf(b)
  );
}

function expressionOf({ expression, expressions }: SetRecord['attributes']): string {
  return [expression, ...(expressions ?? [])].map((each) => each?.expr ?? '').join();
}

/** nf_tables_set_alloc_name: `__set%d` becomes `__set0`, or the next number that is free. */
function freeName({ sets }: TableRecord, pattern: string): string {
  if (!pattern.includes('%d')) refuse('EINVAL');
  for (let number = 0; ; number++) {
    const name = pattern.replace('%d', String(number));
    if (!sets.has(name)) return name;
  }
}

/** The message that describes a set. */
export function describeSet(
  table: TableRecord,
  { handle, attributes }: SetRecord,
  generation: number,
  message: number = NFT_MSG.NEWSET,
): Reply {
  const { flags, ...rest } = attributes;
  const body = encode(setMessage, {
    family: table.family,
    resource: resourceOf(generation),
    attributes: { ...rest, ...(flags !== 0 && { flags }), table: table.name, handle },
  });
  return { type: nftType(message), flags: 0, body };
}

function read(body: Uint8Array) {
  const message = decode(setMessage, body);
  refuseUnknown('NFTA_SET', message);
  return message;
}
