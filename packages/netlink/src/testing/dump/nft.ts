/** The ruleset as text, a line for every object: tables, chains, rules, sets, elements, counters. */
import { encode } from '@heddle/wire';
import { elementsMessage } from '../../nft/codec/element.ts';
import type { Expression } from '../../nft/codec/expressions.ts';
import { COMMENT, commentIn, itemsOf } from '../../nft/codec/userdata.ts';
import { formatKey } from '../../nft/key-values.ts';
import type { NftElement, NftSet } from '../../nft/model.ts';
import { decodeItems, elementsOf } from '../../nft/read-elements.ts';
import { decodeSet } from '../../nft/read-objects.ts';
import type { Namespace } from '../core/namespace.ts';
import { listElements } from '../nft/elements.ts';
import { hookOf } from '../nft/find-chain.ts';
import type { ChainRecord, RuleRecord, Ruleset, TableRecord } from '../nft/records.ts';
import { describeSet } from '../nft/sets.ts';
import { words } from './words.ts';

/** The lines of a namespace. */
export function dumpRuleset({ ruleset }: Namespace): string[] {
  return [...ruleset.tables.values()].flatMap((table) => {
    const where = `nft ${table.family} ${table.name}`;
    return [
      words(where, table.flags !== 0 && `flags ${table.flags}`, comment(table.userdata)),
      ...[...table.chains.values()].flatMap((chain) => chainLines(where, table, chain)),
      ...[...table.sets.values()].flatMap((set) => setLines(where, ruleset, table, set.attributes.name)),
      ...[...table.objects.values()].map(({ attributes: { name, data } }) =>
        words(where, `counter ${name}`, `packets ${data?.counter?.packets} bytes ${data?.counter?.bytes}`),
      ),
    ];
  });
}

function chainLines(where: string, table: TableRecord, { attributes, rules }: ChainRecord): string[] {
  const { name, hook, type, policy, userdata } = attributes;
  const base =
    hook &&
    words(
      `type ${type} hook ${hookOf(table, attributes)}`,
      hook.device !== undefined && `device ${hook.device}`,
      `priority ${hook.priority ?? 0} policy ${policy}`,
    );
  const chain = `${where} chain ${name}`;
  return [
    words(chain, base, comment(userdata)),
    ...rules.map((rule, at) => `${chain} rule ${at}: ${ruleText(rule)}`),
  ];
}

function ruleText({ expressions, attributes }: RuleRecord): string {
  return words(...expressions.map(expressionText), comment(attributes.userdata));
}

/** An expression with its attributes, bytes in hexadecimal. */
function expressionText({ expr, ...attributes }: Expression): string {
  const text = JSON.stringify(attributes, (_, value: unknown) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    return typeof value === 'bigint' ? String(value) : value;
  });
  return text === '{}' ? `[${expr}]` : `[${expr} ${text.slice(1, -1).replaceAll('"', '')}]`;
}

function setLines(where: string, ruleset: Ruleset, table: TableRecord, name: string): string[] {
  const record = table.sets.get(name);
  if (record === undefined) return [];
  const declared = decodeSet(describeSet(table, record, ruleset.generation).body);
  // Sets without a name are shown by the rule that they belong to.
  if (declared === undefined) return [`${where} set ${name} of ${record.elements.size} elements`];
  const body = encode(elementsMessage, {
    family: table.family,
    attributes: { table: table.name, set: name },
  });
  const replies = listElements(ruleset, { flags: 0, body });
  const elements = elementsOf(declared, decodeItems(replies.map((reply) => reply.body)));
  const set = `${where} ${declared.data === undefined ? 'set' : 'map'} ${name}`;
  return [words(set, setText(declared)), ...elements.map((each) => words(set, elementText(each))).toSorted()];
}

function setText({ key, data, intervals, timeout, counters, dynamic, size, comment: note }: NftSet): string {
  const types = (of: NftSet['key'] | NonNullable<NftSet['data']>) =>
    (Array.isArray(of) ? of : [of])
      .map((type) => (typeof type === 'string' ? type : JSON.stringify(type)))
      .join(' . ');
  return words(
    `type ${types(key)}`,
    data !== undefined && `: ${types(data)}`,
    intervals && 'intervals',
    timeout !== undefined && `timeout ${timeout}`,
    counters && 'counters',
    dynamic && 'dynamic',
    size !== undefined && `size ${size}`,
    note !== undefined && `comment ${JSON.stringify(note)}`,
  );
}

function elementText({ key, data, timeout, comment: note }: NftElement): string {
  return words(
    `element ${formatKey(key)}`,
    data !== undefined && `: ${dataText(data)}`,
    timeout !== undefined && `timeout ${timeout}`,
    note !== undefined && `comment ${JSON.stringify(note)}`,
  );
}

function dataText(data: NonNullable<NftElement['data']>): string {
  if (typeof data !== 'object' || !('kind' in data)) return formatKey(data);
  return words(`${data.verdict}`, 'chain' in data ? `${data.chain}` : undefined);
}

function comment(userdata: Uint8Array | undefined): string | undefined {
  const found = userdata && commentIn(itemsOf(userdata), COMMENT);
  return found === undefined ? undefined : `comment ${JSON.stringify(found)}`;
}
