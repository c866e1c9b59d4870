/** Named counters — nf_tables_newobj, nf_tables_delobj in net/netfilter/nf_tables_api.c */
import { decode, encode } from '@heddle/wire';
import { NLM_F } from '../../core/header.ts';
import type { Reply } from '../../core/message.ts';
import { NFT_MSG, nftType } from '../../nft/codec/nfgenmsg.ts';
import { objectMessage } from '../../nft/codec/object.ts';
import { refuse, refuseUnknown, unsupported } from '../core/refusal.ts';
import { type Change, type ChangeRequest, nextHandle, resourceOf } from './change.ts';
import type { ObjectRecord, Ruleset, TableRecord } from './records.ts';
import { isObjectUsed } from './references.ts';

/** Makes a counter, or finds it there. */
export const newObject: Change = (transaction, { flags, body }) => {
  const { family, attributes } = read(body);
  const { name, type, data, userdata } = attributes;
  if (name === undefined || type === undefined || data === undefined) refuse('EINVAL');
  if (type !== 'counter') unsupported(`named ${type}`);
  const table = transaction.table(family, attributes.table);
  if (table.objects.has(name)) {
    if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
    if ((flags & NLM_F.REPLACE) !== 0) refuse('EOPNOTSUPP');
    return;
  }
  const { packets = 0n, bytes = 0n } = data.counter ?? {};
  const object: ObjectRecord = {
    handle: nextHandle(table),
    attributes: { name, type, data: { counter: { packets, bytes } }, ...(userdata && { userdata }) },
  };
  table.objects.set(name, object);
  transaction.tell(describeObject(table, object, transaction.generation));
};

/** Deletes a counter, unless something refers to it. */
export const deleteObject: Change = (transaction, { body }) => {
  const { family, attributes } = read(body);
  const table = transaction.table(family, attributes.table);
  const object = attributes.name === undefined ? undefined : table.objects.get(attributes.name);
  if (object === undefined) refuse('ENOENT');
  if (isObjectUsed(table, object.attributes.name)) refuse('EBUSY');
  table.objects.delete(object.attributes.name);
  transaction.tell(describeObject(table, object, transaction.generation, NFT_MSG.DELOBJ));
};

/** The counters that a request asks for. */
export function listObjects(ruleset: Ruleset, { body }: ChangeRequest): Reply[] {
  const { family, attributes: wanted } = read(body);
  return [...ruleset.tables.values()]
    .filter((table) => family === 'unspec' || table.family === family)
    .filter((table) => wanted.table === undefined || table.name === wanted.table)
    .flatMap((table) =>
      [...table.objects.values()]
        .filter(({ attributes }) => wanted.name === undefined || attributes.name === wanted.name)
        .filter(({ attributes }) => wanted.type === undefined || attributes.type === wanted.type)
        .map((object) => describeObject(table, object, ruleset.generation)),
    );
}

function describeObject(
  table: TableRecord,
  { handle, attributes }: ObjectRecord,
  generation: number,
  message: number = NFT_MSG.NEWOBJ,
): Reply {
  const body = encode(objectMessage, {
    family: table.family,
    resource: resourceOf(generation),
    attributes: { ...attributes, table: table.name, handle, use: 0 },
  });
  return { type: nftType(message), flags: 0, body };
}

function read(body: Uint8Array) {
  const message = decode(objectMessage, body);
  refuseUnknown('NFTA_OBJ', message);
  return message;
}
