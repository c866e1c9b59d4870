/** A rule of iptables-nft in the words that iptables-save has for it. */

import type { Prefix } from '@heddle/netaddr';
import type { Expression, ListedRule } from '@heddle/netlink';
import { decode, u32, WireError } from '@heddle/wire';
import { ALL_BITS, hex } from './extension.ts';
import { MATCHES } from './matches.ts';
import { type Compared, protocolName, readField } from './packet-fields.ts';
import { TARGETS } from './targets.ts';
import { VERDICTS } from './write-rule.ts';

/**
 * What a rule says; `undefined` when it says something that has no words here. What releases of iptables-nft write in
 * different ways has the same words.
 *
 * @example readRule(listed) // ['-s', '10.1.2.5/32', '-j', 'ACCEPT']
 */
export function readRule({ family, expressions, comment }: ListedRule): readonly string[] | undefined {
  const reading = new Reading(family === 'ip6' ? 6 : 4);
  try {
    if (!expressions.every((each) => reading.take(each))) return undefined;
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
  // Old releases kept a comment beside the rule, as nft does.
  return reading.words(comment === undefined ? [] : ['-m', 'comment', '--comment', comment]);
}

/** The chain that a rule leads to, whatever else it says. */
export function jumpOf({ expressions }: Pick<ListedRule, 'expressions'>): string | undefined {
  for (const each of expressions) {
    if (each.expr === 'immediate' && each.data?.verdict?.chain !== undefined) return each.data.verdict.chain;
  }
  return undefined;
}

/** iptables-save tells addresses first, then links, then the protocol. */
const ORDER = ['s', 'd', 'i', 'o', 'p'];

type Loaded = Omit<Compared, 'value'>;

class Reading {
  readonly #family: Prefix['family'];
  readonly #registers = new Map<number, Loaded>();
  readonly #packet: { readonly name: string; readonly words: readonly string[] }[] = [];
  readonly #matches: string[] = [];
  readonly #target: string[] = [];
  #protocol: string | undefined;

  constructor(family: Prefix['family']) {
    this.#family = family;
  }

  words(comment: readonly string[]): readonly string[] {
    const packet = this.#packet.toSorted((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name));
    return [...packet.flatMap(({ words }) => words), ...this.#matches, ...comment, ...this.#target];
  }

  /** Notes an expression. False for one that has no words. */
  take(each: Expression): boolean {
    switch (each.expr) {
      case 'counter':
        return true;
      case 'payload':
      case 'meta':
        if (each.dreg === undefined) return false;
        this.#registers.set(each.dreg, { load: each });
        return true;
      case 'bitwise':
        return this.#mask(each);
      case 'cmp':
        return this.#compare(each);
      case 'match':
        return this.#extension(each, MATCHES, this.#matches, ['-m', each.extension ?? '']);
      case 'target':
        return this.#extension(each, TARGETS, this.#target, ['-j', each.extension ?? '']);
      case 'immediate':
        return this.#verdict(each);
      default:
        return false;
    }
  }

  #mask({ sreg = 0, dreg = 0, op = 'mask', mask, xor }: Extract<Expression, { expr: 'bitwise' }>): boolean {
    const loaded = this.#registers.get(sreg);
    if (loaded === undefined || op !== 'mask' || mask?.value === undefined) return false;
    if (xor?.value?.some((byte) => byte !== 0)) return false;
    this.#registers.set(dreg, { ...loaded, mask: mask.value });
    return true;
  }

  #compare({ sreg = 0, op, data }: Extract<Expression, { expr: 'cmp' }>): boolean {
    const loaded = this.#registers.get(sreg);
    if (loaded === undefined || data?.value === undefined || (op !== 'eq' && op !== 'ne')) return false;
    const compared = { ...loaded, value: data.value };
    const not = op === 'ne' ? ['!'] : [];
    const field = readField(compared, this.#family);
    if (field !== undefined) {
      const [name, value] = field;
      this.#packet.push({ name, words: [...not, `-${name}`, value] });
      if (name === 'p' && op === 'eq') this.#protocol = value;
      return true;
    }
    const native = markWords(compared) ?? portWords(compared, this.#protocol);
    if (native === undefined) return false;
    this.#matches.push('-m', native.match, ...not, ...native.words);
    return true;
  }

  #extension(
    { extension = '', revision, info }: Extract<Expression, { expr: 'match' | 'target' }>,
    known: typeof MATCHES,
    into: string[],
    words: readonly string[],
  ): boolean {
    const found = known.get(extension);
    if (found === undefined || found.revision !== revision || info === undefined) return false;
    const options = found.read(info, { family: this.#family });
    if (options === undefined) return false;
    into.push(...words, ...options);
    return true;
  }

  #verdict({ data }: Extract<Expression, { expr: 'immediate' }>): boolean {
    const { code, chain } = data?.verdict ?? {};
    const name = Object.entries(VERDICTS).find(([, each]) => each === code)?.[0];
    if (name !== undefined) this.#target.push('-j', name);
    else if (chain !== undefined) this.#target.push(code === 'goto' ? '-g' : '-j', chain);
    else return false;
    return true;
  }
}

interface Native {
  readonly match: string;
  readonly words: readonly string[];
}

/** The mark of a packet, which newer releases compare without an extension. */
function markWords({ load, mask, value }: Compared): Native | undefined {
  if (load.expr !== 'meta' || load.key !== 'mark' || value.length !== 4) return undefined;
  const bits = mask === undefined ? ALL_BITS : number(mask);
  const text = bits === ALL_BITS ? hex(number(value)) : `${hex(number(value))}/${hex(bits)}`;
  return { match: 'mark', words: ['--mark', text] };
}

/** A destination port, likewise. */
function portWords({ load, mask, value }: Compared, protocol: string | undefined): Native | undefined {
  if (load.expr !== 'payload' || load.base !== 'transport' || load.offset !== 2 || load.length !== 2)
    return undefined;
  if (mask !== undefined || (protocol !== protocolName(6) && protocol !== protocolName(17))) return undefined;
  return { match: protocol, words: ['--dport', String(((value[0] ?? 0) << 8) | (value[1] ?? 0))] };
}

/** Four bytes in host order. */
function number(bytes: Uint8Array): number {
  return decode(u32, bytes);
}
