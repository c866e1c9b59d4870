/**
 * Conditions of published ports in the words of nft, `conditionsV4` and `conditionsV6`, read into matches.
 *
 * What is understood: `ip`/`ip6` `saddr`/`daddr`, `iifname`, `oifname`, `tcp`/`udp`/`sctp`/`th` `sport`/`dport`,
 * `meta l4proto`, `meta mark`, `ct state`; values, prefixes, ranges and `{ sets }`; `==`, `!=`, `<`, `<=`, `>`, `>=`.
 * Source: nft(8), "Expressions".
 */
import { ConfigError } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';
import {
  ct,
  type Field,
  ip,
  ip6,
  type KeyPart,
  type MatchOperator,
  match,
  meta,
  type Statement,
  sctp,
  tcp,
  th,
  udp,
} from '@heddle/netlink';
import type { Family } from './layout.ts';

/**
 * The matches that a condition stands for, all of which must hold.
 *
 * @param words as in the configuration, where a word may hold several
 * @throws {ConfigError} that names the word that is not understood
 * @example parseConditions(['ip', 'daddr', '!=', '192.0.2.9'], 4)
 */
export function parseConditions(words: readonly string[], family: Family): readonly Statement[] {
  const tokens = words.join(' ').match(/"[^"]*"|[{},]|[=!<>]=|[<>]|[^\s{},"=!<>]+|\S/g) ?? [];
  const reader = new Reader(tokens, family);
  const matches: Statement[] = [];
  while (!reader.atEnd) matches.push(reader.condition());
  return matches;
}

/** How the values of a field are written. */
type Values = 'address' | 'port' | 'number' | 'protocol' | 'state' | 'name';

interface Selector {
  readonly field: Field;
  readonly values: Values;
  /** The only family that it makes sense for. */
  readonly family?: Family;
}

const SELECTORS: Readonly<Record<string, Selector>> = {
  'ip saddr': { field: ip.saddr, values: 'address', family: 4 },
  'ip daddr': { field: ip.daddr, values: 'address', family: 4 },
  'ip6 saddr': { field: ip6.saddr, values: 'address', family: 6 },
  'ip6 daddr': { field: ip6.daddr, values: 'address', family: 6 },
  iifname: { field: meta.iifname, values: 'name' },
  oifname: { field: meta.oifname, values: 'name' },
  'meta iifname': { field: meta.iifname, values: 'name' },
  'meta oifname': { field: meta.oifname, values: 'name' },
  'tcp sport': { field: tcp.sport, values: 'port' },
  'tcp dport': { field: tcp.dport, values: 'port' },
  'udp sport': { field: udp.sport, values: 'port' },
  'udp dport': { field: udp.dport, values: 'port' },
  'sctp sport': { field: sctp.sport, values: 'port' },
  'sctp dport': { field: sctp.dport, values: 'port' },
  'th sport': { field: th.sport, values: 'port' },
  'th dport': { field: th.dport, values: 'port' },
  'meta l4proto': { field: meta.l4proto, values: 'protocol' },
  'meta mark': { field: meta.mark, values: 'number' },
  mark: { field: meta.mark, values: 'number' },
  'ct state': { field: ct.state, values: 'state' },
};

const OPERATORS: Readonly<Record<string, MatchOperator>> = {
  '==': 'eq',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
};
const ORDERED: ReadonlySet<Values> = new Set(['port', 'number']);
const STATES = new Set(['invalid', 'established', 'related', 'new', 'untracked']);
const PROTOCOL_NAMES = new Set(['tcp', 'udp', 'sctp']);

class Reader {
  readonly #tokens: readonly string[];
  readonly #family: Family;
  #at = 0;

  constructor(tokens: readonly string[], family: Family) {
    this.#tokens = tokens;
    this.#family = family;
  }

  get atEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  condition(): Statement {
    const { field, values } = this.#selector();
    const op = OPERATORS[this.#tokens[this.#at] ?? ''];
    if (op !== undefined) this.#at++;
    if (op !== undefined && op !== 'eq' && op !== 'ne' && !ORDERED.has(values)) {
      throw this.#refusal(this.#at - 1, `${field.text} has no order`);
    }
    const isSet = this.#tokens[this.#at] === '{';
    const list = isSet ? this.#set(values) : this.#list(values);
    const [first] = list;
    if (first === undefined) throw this.#refusal(this.#at, 'expected a value');
    // Several states without braces mean any of them, and a state is a bit to look for even when it stands alone.
    const isMany = isSet || list.length > 1 || values === 'state';
    if (!isMany) return match(field, op ?? 'eq', first);
    if (op !== undefined && op !== 'eq' && op !== 'ne')
      throw this.#refusal(this.#at - 1, 'expected one value');
    return match(field, op === 'ne' ? 'notin' : 'in', list);
  }

  #selector(): Selector {
    const start = this.#at;
    for (const length of [2, 1]) {
      const selector = SELECTORS[this.#tokens.slice(start, start + length).join(' ')];
      if (selector === undefined) continue;
      if (selector.family !== undefined && selector.family !== this.#family) {
        throw this.#refusal(start, `this is about IPv${selector.family}`);
      }
      this.#at += length;
      return selector;
    }
    throw this.#refusal(start, `expected one of ${Object.keys(SELECTORS).join(', ')}`);
  }

  #set(values: Values): readonly KeyPart[] {
    this.#at++;
    const list = this.#list(values);
    if (this.#tokens[this.#at] !== '}') throw this.#refusal(this.#at, 'expected } or a comma');
    this.#at++;
    return list;
  }

  #list(values: Values): readonly KeyPart[] {
    const list = [this.#value(values)];
    while (this.#tokens[this.#at] === ',') {
      this.#at++;
      list.push(this.#value(values));
    }
    return list;
  }

  #value(values: Values): KeyPart {
    const at = this.#at++;
    const text = this.#tokens[at] ?? '';
    const value = this.#read(values, text);
    if (value === undefined) throw this.#refusal(at, EXPECTED[values]);
    return value;
  }

  #read(values: Values, text: string): KeyPart | undefined {
    switch (values) {
      case 'address':
        return readAddresses(text, this.#family);
      case 'port':
        return readRange(text, (part) =>
          /^\d+$/.test(part) && Number(part) <= 0xffff ? Number(part) : undefined,
        );
      case 'number':
        return readNumber(text);
      case 'protocol':
        return PROTOCOL_NAMES.has(text) ? text : undefined;
      case 'state':
        return STATES.has(text) ? text : undefined;
      case 'name':
        return /^"?([^\s"*/]{1,15})"?$/.exec(text)?.[1];
    }
  }

  #refusal(at: number, why: string): ConfigError {
    const token = this.#tokens[at];
    const where = token === undefined ? 'the end' : JSON.stringify(token);
    return new ConfigError(`conditionsV${this.#family}: ${where} is not understood: ${why}`, {
      pointer: `/conditionsV${this.#family}`,
    });
  }
}

const EXPECTED: Readonly<Record<Values, string>> = {
  address: "expected an address, a prefix or a range of the condition's family",
  port: 'expected a port or a range of ports',
  number: 'expected a number of 32 bits',
  protocol: 'expected tcp, udp or sctp',
  state: 'expected a state: new, established, related, invalid or untracked',
  name: 'expected the name of a link',
};

function readAddresses(text: string, family: Family): KeyPart | undefined {
  const prefix = Prefix.tryParse(text);
  if (prefix !== undefined) return prefix.family === family ? prefix.masked() : undefined;
  return readRange(text, (part) => {
    const addr = Addr.tryParse(part);
    return addr?.family === family ? addr : undefined;
  });
}

function readRange<T extends Addr | number>(
  text: string,
  read: (part: string) => T | undefined,
): KeyPart | undefined {
  const [first = '', last, ...more] = text.split('-');
  const from = read(first);
  if (last === undefined) return from;
  const to = read(last);
  return from === undefined || to === undefined || more.length > 0 ? undefined : { from, to };
}

function readNumber(text: string): number | undefined {
  if (!/^(0x[0-9a-f]+|\d+)$/i.test(text)) return undefined;
  return Number(text) <= 0xffff_ffff ? Number(text) : undefined;
}
