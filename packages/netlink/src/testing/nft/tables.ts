/** Tables — nf_tables_newtable, nf_tables_deltable in net/netfilter/nf_tables_api.c */
import { decode, encode } from '@heddle/wire';
import { NLM_F } from '../../core/header.ts';
import type { Reply } from '../../core/message.ts';
import { NFT_MSG, nftType } from '../../nft/codec/nfgenmsg.ts';
import { tableMessage } from '../../nft/codec/table.ts';
import type { NftFamily } from '../../nft/model.ts';
import { refuse, refuseUnknown, unsupported } from '../core/refusal.ts';
import { type Change, type ChangeRequest, resourceOf } from './change.ts';
import type { Ruleset, TableRecord } from './records.ts';
import type { Transaction } from './transaction.ts';

/** Makes a table, or finds it there. */
export const newTable: Change = (transaction, { flags, body }) => {
  const message = read(body);
  const family = message.family as NftFamily;
  if (!FAMILIES.has(family)) refuse('EOPNOTSUPP');
  const { name = refuse('EINVAL'), flags: wanted = 0, userdata } = message.attributes;
  if ((wanted & ~DORMANT) !== 0) unsupported('tables with an owner');
  const present = transaction.find(family, name);
  if (present !== undefined) {
    if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
    if ((flags & NLM_F.REPLACE) !== 0) refuse('EOPNOTSUPP');
    if (wanted !== present.flags) put(transaction, { ...present, flags: wanted });
    return;
  }
  put(transaction, {
    family,
    name,
    handle: 1 + Math.max(0, ...transaction.tables('unspec').map((table) => table.handle)),
    flags: wanted,
    handles: { last: 0 },
    chains: new Map(),
    sets: new Map(),
    objects: new Map(),
    ...(userdata && { userdata }),
  });
};

/** Deletes a table with all it holds; without a name, all of a family. */
export const deleteTable: Change = (transaction, { body }) => {
  const message = read(body);
  const { name, handle } = message.attributes;
  const tables = transaction.tables(message.family as NftFamily | 'unspec');
  const isAll = name === undefined && handle === undefined;
  const chosen = isAll ? tables : tables.filter((table) => table.name === name || table.handle === handle);
  if (chosen.length === 0 && !isAll) refuse('ENOENT');
  for (const table of chosen) {
    transaction.remove(table);
    transaction.tell(describeTable(table, transaction.generation, NFT_MSG.DELTABLE));
  }
};

/** The tables that a request asks for. */
export function listTables(ruleset: Ruleset, { body }: ChangeRequest): Reply[] {
  const { family, attributes } = read(body);
  const found = [...ruleset.tables.values()]
    .filter((table) => family === 'unspec' || table.family === family)
    .filter(({ name }) => attributes.name === undefined || name === attributes.name);
  return found.map((table) => describeTable(table, ruleset.generation));
}

/** The message that describes a table. */
function describeTable(table: TableRecord, generation: number, message: number = NFT_MSG.NEWTABLE): Reply {
  const { family, name, handle, flags, userdata } = table;
  const use = table.chains.size + table.sets.size + table.objects.size;
  const attributes = { name, flags, use, handle, ...(userdata && { userdata }) };
  const body = encode(tableMessage, { family, resource: resourceOf(generation), attributes });
  return { type: nftType(message), flags: 0, body };
}

/** NFT_TABLE_F_DORMANT */
const DORMANT = 1;
const FAMILIES: ReadonlySet<string> = new Set(['inet', 'ip', 'ip6', 'arp', 'bridge', 'netdev']);

function put(transaction: Transaction, table: TableRecord): void {
  transaction.put(table);
  transaction.tell(describeTable(table, transaction.generation));
}

function read(body: Uint8Array) {
  const message = decode(tableMessage, body);
  refuseUnknown('NFTA_TABLE', message);
  return message;
}
