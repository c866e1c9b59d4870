/** Chains — nf_tables_newchain, nf_tables_delchain in net/netfilter/nf_tables_api.c */
import { decode, encode } from '@heddle/wire';
import { NLM_F } from '../../core/header.ts';
import type { Reply } from '../../core/message.ts';
import { chainMessage } from '../../nft/codec/chain.ts';
import { NFT_MSG, nftType } from '../../nft/codec/nfgenmsg.ts';
import { refuse, refuseUnknown, unsupported } from '../core/refusal.ts';
import { type Change, type ChangeRequest, nextHandle, resourceOf } from './change.ts';
import { hookOf, isBase, needChain } from './find-chain.ts';
import type { ChainRecord, Ruleset, TableRecord } from './records.ts';
import { isChainUsed } from './references.ts';
import { dropRules } from './rules.ts';
import type { Transaction } from './transaction.ts';

type Attributes = ChainRecord['attributes'];

/** Makes a chain, or changes the policy of one. */
export const newChain: Change = (transaction, { flags, body }) => {
  const { family, attributes } = read(body);
  const table = transaction.table(family, attributes.table);
  const { name } = attributes;
  if (name === undefined) unsupported('chains without a name');
  const { policy, hook } = attributes;
  const present = table.chains.get(name);
  if (policy !== undefined && present !== undefined && !isBase(present)) refuse('EOPNOTSUPP');
  if (policy !== undefined && present === undefined && hook === undefined) refuse('EOPNOTSUPP');
  if (present !== undefined) {
    if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
    if ((flags & NLM_F.REPLACE) !== 0) refuse('EOPNOTSUPP');
    if (hook !== undefined) checkSame(present, attributes);
    if (policy !== undefined)
      put(transaction, table, { ...present, attributes: { ...present.attributes, policy } });
    return;
  }
  const { unknown: _, table: _table, id: _id, handle: _handle, use: _use, ...kept } = attributes;
  const made = hook === undefined ? kept : { type: 'filter', policy: 'accept' as const, ...kept };
  if (hook !== undefined) checkBase(table, made);
  put(transaction, table, { handle: nextHandle(table), attributes: { ...made, name }, rules: [] });
};

/** Deletes a chain with its rules, unless something jumps to it. */
export const deleteChain: Change = (transaction, { flags, body }) => {
  const { family, attributes } = read(body);
  const table = transaction.table(family, attributes.table);
  const chain = needChain(table, attributes.name);
  if ((flags & NONREC) !== 0 && chain.rules.length > 0) refuse('EBUSY');
  if (isChainUsed(table, chain.attributes.name)) refuse('EBUSY');
  dropRules(transaction, table, chain, chain.rules);
  table.chains.delete(chain.attributes.name);
  transaction.tell(describeChain(table, chain, transaction.generation, NFT_MSG.DELCHAIN));
};

/** The chains that a request asks for. */
export function listChains(ruleset: Ruleset, { body }: ChangeRequest): Reply[] {
  const { family, attributes: wanted } = read(body);
  return [...ruleset.tables.values()]
    .filter((table) => family === 'unspec' || table.family === family)
    .filter((table) => wanted.table === undefined || table.name === wanted.table)
    .flatMap((table) =>
      [...table.chains.values()]
        .filter(({ attributes }) => wanted.name === undefined || attributes.name === wanted.name)
        .map((chain) => describeChain(table, chain, ruleset.generation)),
    );
}

/** The chain that a request names. */
export function getChain(ruleset: Ruleset, { body }: ChangeRequest): Reply[] {
  const { family, attributes } = read(body);
  const table = ruleset.tables.get(`${family} ${attributes.table}`) ?? refuse('ENOENT');
  return [describeChain(table, needChain(table, attributes.name), ruleset.generation)];
}

/** NLM_F_NONREC */
const NONREC = 0x100;
/** NF_IP_PRI_CONNTRACK */
const CONNTRACK = -200;

function put(transaction: Transaction, table: TableRecord, chain: ChainRecord): void {
  table.chains.set(chain.attributes.name, chain);
  transaction.tell(describeChain(table, chain, transaction.generation));
}

/** A chain that is there cannot be moved to another hook. */
function checkSame(present: ChainRecord, { hook, type }: Partial<Attributes>): void {
  const { attributes: a } = present;
  if (a.hook === undefined) refuse('EEXIST');
  if (hook?.number !== a.hook.number || hook?.priority !== a.hook.priority) refuse('EOPNOTSUPP');
  if (type !== undefined && type !== a.type) refuse('EEXIST');
  if (hook?.device !== a.hook.device) refuse('EEXIST');
}

/** Where chains of a type may be — nf_chain_types */
function checkBase(table: TableRecord, attributes: Partial<Attributes>): void {
  const { type = 'filter', hook } = attributes;
  const place = hookOf(table, attributes);
  const hooks = HOOKS[type]?.[table.family];
  if (HOOKS[type] === undefined || hooks === undefined) refuse('ENOENT');
  if (hook?.devices !== undefined) unsupported('chains of several devices');
  if (place === undefined || !hooks.includes(place)) refuse('EOPNOTSUPP');
  if (type === 'nat' && (hook?.priority ?? 0) <= CONNTRACK) refuse('EOPNOTSUPP');
  const wantsDevice = table.family === 'netdev' || place === 'ingress' || place === 'egress';
  if (wantsDevice !== (hook?.device !== undefined)) refuse(wantsDevice ? 'EINVAL' : 'EOPNOTSUPP');
}

const INET = ['prerouting', 'input', 'forward', 'output', 'postrouting'];
const NAT = ['prerouting', 'input', 'output', 'postrouting'];
const HOOKS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  filter: {
    inet: [...INET, 'ingress'],
    ip: INET,
    ip6: INET,
    bridge: INET,
    arp: ['input', 'output'],
    netdev: ['ingress', 'egress'],
  },
  nat: { inet: NAT, ip: NAT, ip6: NAT },
  route: { inet: ['output'], ip: ['output'], ip6: ['output'] },
};

function describeChain(
  table: TableRecord,
  { handle, attributes, rules }: ChainRecord,
  generation: number,
  message: number = NFT_MSG.NEWCHAIN,
): Reply {
  const body = encode(chainMessage, {
    family: table.family,
    resource: resourceOf(generation),
    attributes: { ...attributes, table: table.name, handle, use: rules.length },
  });
  return { type: nftType(message), flags: 0, body };
}

function read(body: Uint8Array) {
  const message = decode(chainMessage, body);
  refuseUnknown('NFTA_CHAIN', message);
  return message;
}
