/** Rules — nf_tables_newrule, nf_tables_delrule in net/netfilter/nf_tables_api.c */
import { decode, encode } from '@heddle/wire';
import { NLM_F } from '../../core/header.ts';
import type { Reply } from '../../core/message.ts';
import { NFT_MSG, nftType } from '../../nft/codec/nfgenmsg.ts';
import { ruleMessage } from '../../nft/codec/rule.ts';
import { NFT_SET } from '../../nft/codec/set.ts';
import { refuse, refuseUnknown } from '../core/refusal.ts';
import { checkReachable } from './chain-checks.ts';
import { type Change, type ChangeRequest, nextHandle, resourceOf } from './change.ts';
import { settled } from './expressions.ts';
import { needChain } from './find-chain.ts';
import type { ChainRecord, RuleRecord, Ruleset, TableRecord } from './records.ts';
import { setOf } from './references.ts';
import type { Transaction } from './transaction.ts';

/** Adds a rule at its place, or puts it into another's. */
export const newRule: Change = (transaction, { flags, body }) => {
  const { family, attributes } = read(body);
  const table = transaction.table(family, attributes.table);
  const chain = needChain(table, attributes.chain);
  const { handle, position, compat, userdata, expressions = [] } = attributes;
  const place = placeOf(chain, handle ?? position);
  if (handle !== undefined) {
    if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
    if ((flags & NLM_F.REPLACE) === 0) refuse('EOPNOTSUPP');
  } else if ((flags & NLM_F.CREATE) === 0 || (flags & NLM_F.REPLACE) !== 0) {
    refuse('EINVAL');
  }
  const rule: RuleRecord = {
    handle: nextHandle(table),
    expressions: expressions.map((each) => settled(transaction, table, each)),
    attributes: { ...(compat && { compat }), ...(userdata && { userdata }) },
  };
  const replaced = handle === undefined ? undefined : chain.rules[place];
  const appends = (flags & NLM_F.APPEND) !== 0;
  const rules =
    replaced === undefined
      ? chain.rules.toSpliced(
          position === undefined ? (appends ? chain.rules.length : 0) : place + Number(appends),
          0,
          rule,
        )
      : chain.rules.with(place, rule);
  const changed = { ...chain, rules };
  table.chains.set(chain.attributes.name, changed);
  if (replaced !== undefined) dropSets(table, replaced);
  if (transaction.isStrict) checkReachable(table);
  transaction.tell(describeRule(table, changed, rule, transaction.generation));
};

/** Deletes a rule, or all of a chain or table. */
export const deleteRule: Change = (transaction, { body }) => {
  const { family, attributes } = read(body);
  const table = transaction.table(family, attributes.table);
  if (attributes.chain === undefined) {
    for (const chain of table.chains.values()) dropRules(transaction, table, chain, chain.rules);
    return;
  }
  const chain = needChain(table, attributes.chain);
  const { handle } = attributes;
  const chosen = handle === undefined ? chain.rules : chain.rules.filter((rule) => rule.handle === handle);
  if (handle !== undefined && chosen.length === 0) refuse('ENOENT');
  dropRules(transaction, table, chain, chosen);
};

/** Takes rules out of a chain, with the sets that are theirs alone. */
export function dropRules(
  transaction: Transaction,
  table: TableRecord,
  chain: ChainRecord,
  gone: readonly RuleRecord[],
): void {
  const rules = chain.rules.filter((rule) => !gone.includes(rule));
  table.chains.set(chain.attributes.name, { ...chain, rules });
  for (const rule of gone) {
    dropSets(table, rule);
    transaction.tell(describeRule(table, chain, rule, transaction.generation, NFT_MSG.DELRULE));
  }
}

/** The rules that a request asks for. */
export function listRules(ruleset: Ruleset, { body }: ChangeRequest): Reply[] {
  const { family, attributes: wanted } = read(body);
  return [...ruleset.tables.values()]
    .filter((table) => family === 'unspec' || table.family === family)
    .filter((table) => wanted.table === undefined || table.name === wanted.table)
    .flatMap((table) =>
      [...table.chains.values()]
        .filter((chain) => wanted.chain === undefined || chain.attributes.name === wanted.chain)
        .flatMap((chain) =>
          chain.rules
            .filter((rule) => wanted.handle === undefined || rule.handle === wanted.handle)
            .map((rule) => describeRule(table, chain, rule, ruleset.generation)),
        ),
    );
}

/** Where the rule with that handle is. */
function placeOf({ rules }: ChainRecord, handle: number | undefined): number {
  if (handle === undefined) return 0;
  const place = rules.findIndex((rule) => rule.handle === handle);
  return place === -1 ? refuse('ENOENT') : place;
}

/** Sets without a name go with their rule. */
function dropSets(table: TableRecord, { expressions }: RuleRecord): void {
  for (const expression of expressions) {
    const name = setOf(expression);
    const set = name === undefined ? undefined : table.sets.get(name);
    if (set !== undefined && (set.attributes.flags & NFT_SET.ANONYMOUS) !== 0)
      table.sets.delete(set.attributes.name);
  }
}

function describeRule(
  table: TableRecord,
  chain: ChainRecord,
  { handle, expressions, attributes }: RuleRecord,
  generation: number,
  message: number = NFT_MSG.NEWRULE,
): Reply {
  const before = chain.rules[chain.rules.findIndex((rule) => rule.handle === handle) - 1];
  const body = encode(ruleMessage, {
    family: table.family,
    resource: resourceOf(generation),
    attributes: {
      ...attributes,
      table: table.name,
      chain: chain.attributes.name,
      handle,
      expressions,
      ...(before !== undefined && { position: before.handle }),
    },
  });
  return { type: nftType(message), flags: 0, body };
}

function read(body: Uint8Array) {
  const message = decode(ruleMessage, body);
  refuseUnknown('NFTA_RULE', message);
  return message;
}
