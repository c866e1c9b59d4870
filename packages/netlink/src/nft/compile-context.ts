/** What is known while a rule is compiled: its family, what the packet has been matched to be, what is written so far. */
import type { Data } from './codec/data.ts';
import type { Expression } from './codec/expressions.ts';
import { type KeyType, padded, typeInfo } from './key-types.ts';
import type { KeyValue } from './key-values.ts';
import type { NftFamily } from './model.ts';
import { NftError } from './nft-error.ts';
import type { Field, Need, Operand } from './operands.ts';
import type { Verdict } from './statements.ts';

/** A set that lives and dies with its rule. */
export interface AnonymousSet {
  /** What its look-ups call it within the batch; the kernel gives it a name. */
  readonly index: number;
  readonly key: readonly KeyType[];
  readonly verdicts: boolean;
  readonly intervals: boolean;
  readonly elements: readonly { readonly key: KeyValue; readonly data?: Verdict }[];
}

/** The first register of data, four bytes into the register file's sixteen of the verdict. */
export const FIRST_REGISTER = 1;

/**
 * The number of the register at `slot`, in steps of four bytes: the kernel has numbers of their own for those
 * at multiples of sixteen.
 */
export function registerAt(slot: number): number {
  return slot % 4 === 0 ? FIRST_REGISTER + slot / 4 : NFT_REG32_00 + slot;
}

const NFT_REG32_00 = 8;

/** Collects the expressions of one rule. */
export class CompileContext {
  readonly family: NftFamily;
  readonly expressions: Expression[] = [];
  readonly sets: AnonymousSet[] = [];
  readonly #network: { protocol: string | undefined };
  #transport: number | undefined;
  #link = false;

  constructor(family: NftFamily) {
    this.family = family;
    const own = family === 'ip' || family === 'ip6' || family === 'arp';
    this.#network = { protocol: own ? family : undefined };
    this.#link = family === 'bridge';
  }

  /** Appends an expression. */
  emit(expression: Expression): void {
    this.expressions.push(expression);
  }

  /** Reads an operand into registers from the first on, and returns the types of what is there. */
  load(operand: Operand): readonly KeyType[] {
    const fields =
      operand.kind === 'concat' ? operand.fields : [operand.kind === 'masked' ? operand.field : operand];
    for (const field of fields) this.require(field);
    let slot = 0;
    for (const field of fields) {
      this.emit({ ...field.load, dreg: registerAt(slot) } as Expression);
      slot += padded(typeInfo(field.type).length) / 4;
    }
    if (slot > REGISTER_SLOTS)
      throw new NftError(`${textOf(operand)} is longer than the registers (64 bytes)`);
    if (operand.kind === 'masked') this.mask(typeInfo(operand.field.type).encode(operand.mask));
    return fields.map((field) => field.type);
  }

  /** Keeps the bits of `mask` in the first register, and flips those of `xor`. */
  mask(mask: Uint8Array, xor: Uint8Array = new Uint8Array(mask.length)): void {
    this.emit({
      expr: 'bitwise',
      sreg: FIRST_REGISTER,
      dreg: FIRST_REGISTER,
      op: 'mask',
      length: mask.length,
      mask: { value: mask },
      xor: { value: xor },
    });
  }

  /** Compares the first register. */
  compare(op: 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge', value: Uint8Array): void {
    this.emit({ expr: 'cmp', sreg: FIRST_REGISTER, op, data: { value } });
  }

  /** Makes sure that the packet is of the protocols that a field belongs to. */
  require(field: Field): void {
    for (const need of field.needs) this.#require(need, field.text);
  }

  /** Makes sure that the packet is of a transport protocol. */
  requireTransport(protocol: number, what: string): void {
    this.#require({ layer: 'transport', protocol }, what);
  }

  /** Takes note of an explicit match on a protocol, so that it is not written twice. */
  learn(field: Field, value: Data['value']): void {
    if (value === undefined) return;
    const key = field.load.expr === 'meta' ? field.load.key : field.text;
    if (key === 'l4proto' || key === 'ip protocol') this.#transport = value[0];
    if (key === 'nfproto') this.#network.protocol = value[0] === 2 ? 'ip' : value[0] === 10 ? 'ip6' : 'other';
    if (key === 'protocol' || key === 'ether type') {
      const type = ((value[0] ?? 0) << 8) | (value[1] ?? 0);
      const known = Object.entries(ETHER_TYPES).find(([, number]) => number === type);
      this.#network.protocol = known?.[0] ?? 'other';
    }
  }

  /** Adds a set without name and returns what a look-up calls it. */
  addSet(set: Omit<AnonymousSet, 'index'>): { readonly set: string; readonly setId: number } {
    const index = this.sets.length;
    this.sets.push({ ...set, index });
    return { set: set.verdicts ? '__map%d' : '__set%d', setId: index };
  }

  #require(need: Need, what: string): void {
    switch (need.layer) {
      case 'link':
        if (!this.#link) this.#match('iiftype', hostOrder16(ARPHRD_ETHER));
        this.#link = true;
        return;
      case 'network':
        this.#requireNetwork(need.protocol, what);
        return;
      case 'transport':
        if (this.#transport === need.protocol) return;
        if (this.#transport !== undefined) {
          throw new NftError(`${what} in a rule that matches protocol ${this.#transport} already`);
        }
        this.#match('l4proto', Uint8Array.of(need.protocol));
        this.#transport = need.protocol;
    }
  }

  #requireNetwork(protocol: 'ip' | 'ip6' | 'arp', what: string): void {
    const current = this.#network.protocol;
    if (current === protocol) return;
    if (current !== undefined) throw new NftError(`${what} in a rule for ${current} packets`);
    if (this.family === 'inet') {
      if (protocol === 'arp') throw new NftError(`${what} in the family inet, which sees no ARP`);
      this.#match('nfproto', Uint8Array.of(protocol === 'ip' ? 2 : 10));
    } else {
      const type = Uint8Array.of(ETHER_TYPES[protocol] >> 8, ETHER_TYPES[protocol] & 0xff);
      if (protocol === 'arp') {
        // As nft has it: ARP is read off the Ethernet header, while IP may lie behind a VLAN tag.
        this.#require({ layer: 'link', protocol: 'ether' }, what);
        this.emit({ expr: 'payload', base: 'link', offset: 12, length: 2, dreg: FIRST_REGISTER });
        this.compare('eq', type);
      } else this.#match('protocol', type);
    }
    this.#network.protocol = protocol;
  }

  #match(key: 'iiftype' | 'l4proto' | 'nfproto' | 'protocol', value: Uint8Array): void {
    this.emit({ expr: 'meta', key, dreg: FIRST_REGISTER });
    this.compare('eq', value);
  }
}

/** Registers hold sixteen values of four bytes. */
const REGISTER_SLOTS = 16;

const ETHER_TYPES = { ip: 0x0800, arp: 0x0806, ip6: 0x86dd } as const;
const ARPHRD_ETHER = 1;

function hostOrder16(value: number): Uint8Array {
  return new Uint8Array(new Uint16Array([value]).buffer);
}

/** An operand as `nft` writes it, for messages. */
export function textOf(operand: Operand): string {
  if (operand.kind === 'concat') return operand.fields.map((field) => field.text).join(' . ');
  return operand.kind === 'masked' ? `${operand.field.text} & ${operand.mask}` : operand.text;
}
