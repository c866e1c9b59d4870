/** Rules of nftables in words close to those of `nft`, from the expressions that the kernel has. */
import { Addr } from '@heddle/netaddr';
import type { Expression } from '@heddle/netlink';

/** What a register holds: its name, and how its values are written. */
interface Loaded {
  readonly register: number;
  readonly name: string;
  readonly format: (bytes: Uint8Array) => string;
}

/**
 * A rule as text.
 *
 * @example ruleText(rule.expressions) // 'ip saddr 10.1.0.2 masquerade'
 */
export function ruleText(expressions: readonly Expression[]): string {
  const writer = new Writer();
  for (const expression of expressions) writer.take(expression);
  return writer.words.join(' ');
}

class Writer {
  readonly words: string[] = [];
  #loaded: readonly Loaded[] = [];
  /** What each register was loaded with last: it is still there after a comparison. */
  readonly #last = new Map<number, Loaded>();
  /** Values that were put into registers, or found in maps. */
  readonly #values = new Map<number, (format: Loaded['format']) => string>();

  take(expression: Expression): void {
    switch (expression.expr) {
      case 'meta':
        this.#register(
          expression,
          expression.key,
          `meta ${expression.key}`,
          metaFormat(String(expression.key)),
        );
        return;
      case 'ct':
        this.#register(expression, expression.key, `ct ${expression.key}`, ctFormat(String(expression.key)));
        return;
      case 'payload': {
        const { base, offset = 0, length = 0, dreg = 0 } = expression;
        const [name, format] = fieldOf(String(base), offset, length);
        this.#load(dreg, name, format);
        return;
      }
      case 'fib': {
        const { flags = 0, result, dreg = 0 } = expression;
        const keys = FIB_KEYS.filter(([bit]) => (flags & bit) !== 0).map(([, name]) => name);
        this.#load(dreg, `fib ${keys.join(' . ')} ${result}`, number);
        return;
      }
      case 'bitwise':
        this.#mask(expression);
        return;
      case 'cmp': {
        const { sreg = 0, op = 'eq', data } = expression;
        const found = this.#at(sreg);
        const sign = OPERATORS[op] ?? `${op}`;
        this.words.push(
          [found.name, ...(sign === '' ? [] : [sign]), found.format(data?.value ?? EMPTY)].join(' '),
        );
        this.#loaded = [];
        return;
      }
      case 'range': {
        const { sreg = 0, op, from, to } = expression;
        const { name, format } = this.#at(sreg);
        const not = op === 'ne' ? '!= ' : '';
        this.words.push(`${name} ${not}${format(from?.value ?? EMPTY)}-${format(to?.value ?? EMPTY)}`);
        this.#loaded = [];
        return;
      }
      case 'lookup': {
        const { set = '?', dreg, flags = 0 } = expression;
        const key = this.#loaded.map(({ name }) => name).join(' . ');
        this.#loaded = [];
        if (dreg === undefined) this.words.push(`${key} ${flags === 1 ? '!= ' : ''}@${set}`);
        else if (dreg === 0) this.words.push(`${key} vmap @${set}`);
        else this.#values.set(dreg, () => `${key} map @${set}`);
        return;
      }
      case 'immediate': {
        const { dreg = 0, data } = expression;
        const { value, verdict } = data ?? {};
        if (verdict !== undefined) {
          this.words.push([verdict.code, ...(verdict.chain === undefined ? [] : [verdict.chain])].join(' '));
        } else if (value !== undefined) this.#values.set(dreg, (format) => format(value));
        return;
      }
      case 'nat': {
        const { type, addrMin, portMin, family } = expression;
        const target = [
          ...(addrMin === undefined ? [] : [this.#value(addrMin, address)]),
          ...(portMin === undefined || portMin === addrMin ? [] : [`:${this.#value(portMin, number)}`]),
        ].join('');
        this.words.push(`${type} ${family ?? ''} to ${target}`.replace('  ', ' '));
        return;
      }
      case 'masq':
        this.words.push('masquerade');
        return;
      case 'redir':
        this.words.push(
          expression.portMin === undefined
            ? 'redirect'
            : `redirect to :${this.#value(expression.portMin, number)}`,
        );
        return;
      case 'match':
        this.words.push(matchText(expression.extension ?? '?', expression.info ?? EMPTY));
        return;
      case 'target':
        this.words.push(`-j ${expression.extension}`);
        return;
      case 'objref':
        this.words.push(
          expression.object === undefined ? `counter @${expression.set}` : `counter ${expression.object}`,
        );
        this.#loaded = [];
        return;
      case 'byteorder':
        return;
      default:
        this.words.push(expression.expr);
    }
  }

  #register(
    { sreg, dreg = 0 }: { readonly sreg?: number | undefined; readonly dreg?: number | undefined },
    key: string | number | undefined,
    name: string,
    format: Loaded['format'],
  ): void {
    if (sreg !== undefined) {
      this.words.push(`${name} set ${this.#value(sreg, format)}`);
      this.#loaded = [];
    } else this.#load(dreg, PLAIN.includes(String(key)) ? String(key) : name, format);
  }

  #load(register: number, name: string, format: Loaded['format']): void {
    const loaded: Loaded = { register, name, format };
    this.#loaded = [...this.#loaded, loaded];
    this.#last.set(register, loaded);
  }

  /** A mask on what is loaded: the prefix of an address, or bits. */
  #mask({ sreg = 0, dreg = sreg, mask, xor }: Extract<Expression, { expr: 'bitwise' }>): void {
    const { name, format } = this.#at(sreg);
    const bits = mask?.value ?? EMPTY;
    const length = prefixLength(bits);
    const set = (xor?.value ?? EMPTY).some((byte) => byte !== 0) ? ` ^ ${hex(xor?.value ?? EMPTY)}` : '';
    const masked: Loaded =
      format === address && length !== undefined && set === ''
        ? { register: dreg, name, format: (bytes) => `${address(bytes)}/${length}` }
        : { register: dreg, name: `${name} & ${format === mark ? mark(bits) : hex(bits)}${set} ==`, format };
    this.#loaded = [...this.#loaded.filter(({ register }) => register !== sreg), masked];
    this.#last.set(dreg, masked);
    const { name: written } = masked;
    // What is set afterwards, as a mark, is what was masked.
    this.#values.set(dreg, () => written);
  }

  #at(register: number): Loaded {
    const now = this.#loaded.find((each) => each.register === register);
    return now ?? this.#last.get(register) ?? { register, name: `reg ${register}`, format: hex };
  }

  #value(register: number, format: Loaded['format']): string {
    return this.#values.get(register)?.(format) ?? this.#at(register).name;
  }
}

const EMPTY = new Uint8Array();

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

function number(bytes: Uint8Array): string {
  return BigInt(bytes.length === 0 ? 0 : hex(bytes)).toString();
}

/** Numbers in the machine's own order. */
function hostNumber(bytes: Uint8Array): string {
  return number(isLittleEndian() ? bytes.toReversed() : bytes);
}

function mark(bytes: Uint8Array): string {
  return `0x${BigInt(hostNumber(bytes)).toString(16)}`;
}

function isLittleEndian(): boolean {
  return new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
}

function text(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  // Names that are cut before their NUL match all that begin so.
  return `"${Buffer.from(end < 0 ? bytes : bytes.subarray(0, end)).toString()}${end < 0 && bytes.length < 16 ? '*' : ''}"`;
}

function address(bytes: Uint8Array): string {
  return bytes.length === 4 || bytes.length === 16 ? Addr.fromBytes(bytes).toString() : hex(bytes);
}

function named(names: Readonly<Record<number, string>>): (bytes: Uint8Array) => string {
  return (bytes) => names[Number(number(bytes))] ?? number(bytes);
}

function metaFormat(key: string): Loaded['format'] {
  if (/name$|kind$/.test(key)) return text;
  if (key === 'mark') return mark;
  if (key === 'l4proto') return named({ 1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmpv6', 132: 'sctp' });
  if (key === 'nfproto') return named({ 2: 'ipv4', 10: 'ipv6' });
  return hostNumber;
}

function ctFormat(key: string): Loaded['format'] {
  return key === 'mark' || key === 'state' || key === 'status' ? mark : hex;
}

/** Written without "meta". */
const PLAIN: readonly string[] = ['iifname', 'oifname', 'iif', 'oif'];

const OPERATORS: Readonly<Record<string, string>> = {
  eq: '',
  ne: '!=',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
};

const FIELDS: Readonly<Record<string, readonly [string, Loaded['format']]>> = {
  'network 12 4': ['ip saddr', address],
  'network 16 4': ['ip daddr', address],
  'network 9 1': ['ip protocol', named({ 1: 'icmp', 6: 'tcp', 17: 'udp', 132: 'sctp' })],
  'network 8 16': ['ip6 saddr', address],
  'network 24 16': ['ip6 daddr', address],
  'network 6 1': ['ip6 nexthdr', named({ 6: 'tcp', 17: 'udp', 58: 'icmpv6', 132: 'sctp' })],
  'transport 0 2': ['th sport', number],
  'transport 2 2': ['th dport', number],
  'link 0 6': ['ether daddr', hex],
  'link 6 6': ['ether saddr', hex],
};

/** A field by its place; the first bytes of an address are the prefix that is meant. */
function fieldOf(base: string, offset: number, length: number): readonly [string, Loaded['format']] {
  const whole = FIELDS[`${base} ${offset} ${length}`];
  if (whole !== undefined) return whole;
  for (const size of [4, 16]) {
    const field = FIELDS[`${base} ${offset} ${size}`];
    if (field === undefined || length >= size) continue;
    const prefix = (bytes: Uint8Array) => {
      const full = new Uint8Array(size);
      full.set(bytes.subarray(0, size));
      return `${address(full)}/${bytes.length * 8}`;
    };
    return [field[0], prefix];
  }
  return [`@${base},${offset * 8},${length * 8}`, hex];
}

/** NFTA_FIB_F_* */
const FIB_KEYS: readonly (readonly [number, string])[] = [
  [1, 'saddr'],
  [2, 'daddr'],
  [4, 'mark'],
  [8, 'iif'],
  [16, 'oif'],
];

/** How many leading bits are set; nothing when it is no prefix. */
function prefixLength(mask: Uint8Array): number | undefined {
  const bits = [...mask].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined;
}

function matchText(extension: string, info: Uint8Array): string {
  if (extension !== 'comment') return `-m ${extension}`;
  const end = info.indexOf(0);
  return `/* ${Buffer.from(end < 0 ? info : info.subarray(0, end)).toString()} */`;
}
