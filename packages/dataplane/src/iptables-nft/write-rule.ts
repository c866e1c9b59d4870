/** A rule of iptables in words as iptables-nft would give it to the kernel. */
import type { Prefix } from '@heddle/netaddr';
import type { Expression, NftRule } from '@heddle/netlink';
import type { Extension, Option } from './extension.ts';
import { MATCHES } from './matches.ts';
import { PACKET_OPTIONS, type PacketOption, protocolNumber, writeField } from './packet-fields.ts';
import { TARGETS } from './targets.ts';

/** What a rule consists of in the kernel. */
export type WrittenRule = Pick<NftRule, 'expressions' | 'compat'>;

/**
 * The expressions of a rule; `undefined` when its words say something that is not known here.
 *
 * @example writeRule(['-s', '10.1.2.5/32', '-j', 'ACCEPT'], 4)
 */
export function writeRule(words: readonly string[], family: Prefix['family']): WrittenRule | undefined {
  const parsed = parse(words);
  if (parsed === undefined) return undefined;
  const { packet, matches, target } = parsed;
  const expressions: (Expression | undefined)[] = [];
  for (const name of PACKET_OPTIONS) {
    for (const option of packet.filter((each) => each.name === name)) {
      expressions.push(...(writeField(name, option, family) ?? [undefined]));
    }
  }
  for (const { extension, options } of matches) {
    const { name, revision } = extension;
    const info = extension.write(options, { family });
    expressions.push(info && { expr: 'match', extension: name, revision, info });
  }
  expressions.push({ expr: 'counter', bytes: 0n, packets: 0n }, targetExpression(target, family));
  const isWhole = (list: typeof expressions): list is Expression[] => !list.includes(undefined);
  if (!isWhole(expressions)) return undefined;
  const protocol = packet.find(({ name }) => name === 'p');
  return {
    expressions,
    // Extensions that go with a protocol are refused by the kernel in a rule that is not about it.
    compat: {
      protocol: protocolNumber(protocol?.values[0] ?? '0') ?? 0,
      inverted: protocol?.negated ?? false,
    },
  };
}

/** The verdicts that have names. */
export const VERDICTS = { ACCEPT: 'accept', DROP: 'drop', RETURN: 'return' } as const;

interface Target {
  readonly how: 'j' | 'g';
  readonly name: string;
  readonly options: Option[];
}

interface Parsed {
  readonly packet: (Option & { readonly name: PacketOption })[];
  readonly matches: { readonly extension: Extension; readonly options: Option[] }[];
  target?: Target;
}

function parse(words: readonly string[]): Parsed | undefined {
  const parsed: Parsed = { packet: [], matches: [] };
  for (const { dashes, ...option } of optionsIn(words)) {
    const { name, negated, values } = option;
    const [value = ''] = values;
    if (dashes === '--') {
      const owner = ownerOf(option, parsed);
      if (owner === undefined) return undefined;
      owner.push(option);
    } else if (isPacketOption(name)) parsed.packet.push({ ...option, name });
    else if (negated || values.length !== 1) return undefined;
    else if (name === 'm') {
      const extension = MATCHES.get(value);
      if (extension === undefined) return undefined;
      parsed.matches.push({ extension, options: [] });
    } else if ((name === 'j' || name === 'g') && parsed.target === undefined) {
      parsed.target = { how: name, name: value, options: [] };
    } else return undefined;
  }
  return parsed;
}

/** The options of whichever extension an option belongs to: the target's, else those of the last match that has it. */
function ownerOf({ name }: Option, { matches, target }: Parsed): Option[] | undefined {
  if (target !== undefined && TARGETS.get(target.name)?.options.includes(name)) return target.options;
  return matches.findLast(({ extension }) => extension.options.includes(name))?.options;
}

function* optionsIn(words: readonly string[]): Iterable<Option & { readonly dashes: string }> {
  let negated = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (word === '!') {
      negated = true;
      continue;
    }
    const [, dashes = '', name = ''] = /^(--?)([a-z].*)$/.exec(word) ?? [];
    const values: string[] = [];
    // The text of a comment may look like anything.
    if (word === '--comment' && at + 1 < words.length) values.push(words[++at] as string);
    while (at + 1 < words.length && !/^(!$|--?[a-z])/.test(words[at + 1] as string)) {
      values.push(words[++at] as string);
    }
    yield { dashes, name: dashes === '' ? word : name, negated, values };
    negated = false;
  }
}

function targetExpression(target: Target | undefined, family: Prefix['family']): Expression | undefined {
  if (target === undefined) return undefined;
  const { how, name, options } = target;
  const extension = TARGETS.get(name);
  if (extension !== undefined) {
    const { revision } = extension;
    const info = how === 'j' ? extension.write(options, { family }) : undefined;
    return info && { expr: 'target', extension: name, revision, info };
  }
  const verdict = Object.entries(VERDICTS).find(([word]) => word === name)?.[1];
  if (how === 'j' && verdict !== undefined) return immediate({ code: verdict });
  // What is written in capitals without a hyphen and is no chain would be some extension's name.
  return immediate({ code: how === 'j' ? 'jump' : 'goto', chain: name });
}

function immediate(verdict: VerdictData): Expression {
  return { expr: 'immediate', dreg: VERDICT_REGISTER, data: { verdict } };
}

type VerdictData = NonNullable<NonNullable<Extract<Expression, { expr: 'immediate' }>['data']>['verdict']>;

/** NFT_REG_VERDICT */
const VERDICT_REGISTER = 0;

function isPacketOption(name: string): name is PacketOption {
  return (PACKET_OPTIONS as readonly string[]).includes(name);
}
