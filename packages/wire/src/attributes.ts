/**
 * Netlink attribute sets (`struct nlattr`, linux/netlink.h): each attribute is a 16-bit length, a
 * 16-bit type and a payload, padded to four bytes.
 */

import { once } from '#once';
import { copyOf } from './bytes.ts';
import type { Codec, Input, Value, Window } from './codec.ts';
import { WireError, within } from './wire-error.ts';
import type { Writer } from './writer.ts';

const HEADER = 4;
const NLA_F_NESTED = 0x8000;
const NLA_TYPE_MASK = 0x3fff;

/** An attribute that the set does not declare, kept as it came and written back as it is. */
export interface UnknownAttribute {
  readonly id: number;
  readonly data: Uint8Array;
}

/** One declared attribute of a set; made by {@link attr}, {@link many} or {@link choice}. */
export interface Attribute<Out, In = Out> {
  readonly id: number;
  readonly kind: 'one' | 'many' | 'choice';
  /** The codec of the payload, where that is always the same. */
  readonly codec?: Codec<unknown, unknown>;
  /** The codec of the payload, given what else the set holds. */
  codecFor(siblings: Readonly<Record<string, unknown>>): Codec<unknown, unknown>;
  readonly nested: boolean;
  /** Only for types. */
  readonly out?: Out;
  /** Only for types. */
  readonly in?: (value: In) => void;
}

/** An attribute of a set, with its name there. */
interface Declared {
  readonly key: string;
  readonly attribute: Attribute<unknown, unknown>;
  /** Its place in the declaration. */
  readonly index: number;
}

/** Where in a message an attribute is. */
interface Occurrence extends Declared {
  readonly from: number;
  readonly to: number;
}

type AnyAttribute = Attribute<unknown, never> | Attribute<never, never>;
/** The declaration of a set: attributes by name. */
export type AttributeFields = Readonly<Record<string, AnyAttribute>>;

type OutOf<A> = A extends Attribute<infer Out, infer _In> ? Out : never;
type InOf<A> = A extends Attribute<infer _Out, infer In> ? In : never;

/** What reading a set gives. */
export type AttributesValue<F extends AttributeFields> = { readonly [K in keyof F]?: OutOf<F[K]> } & {
  readonly unknown?: readonly UnknownAttribute[];
};
/** What writing a set takes. */
export type AttributesInput<F extends AttributeFields> = {
  readonly [K in keyof F]?: InOf<F[K]> | undefined;
} & {
  readonly unknown?: readonly UnknownAttribute[] | undefined;
};

/**
 * A set of attributes. Attributes are written in the order of the declaration, which matters to some
 * of the kernel's parsers; unknown ones are kept in `unknown`.
 *
 * @param name the C enum's prefix, for error messages
 * @example
 * const vxlan = attrs('IFLA_VXLAN', { id: attr(1, u32), port: attr(15, u16be) });
 * decode(vxlan, encode(vxlan, { id: 42, port: 4789 })); // { id: 42, port: 4789 }
 */
export function attrs<const F extends AttributeFields>(
  name: string,
  fields: F,
): Codec<AttributesValue<F>, AttributesInput<F>> {
  const declared = once(() => tablesOf(fields));
  const codec: Codec<AttributesValue<F>, AttributesInput<F>> = {
    name,
    size: undefined,
    read(window, start, end) {
      const { byId } = declared();
      const { view } = window;
      const value: Record<string, unknown> = {};
      let unknown: UnknownAttribute[] | undefined;
      let later: Occurrence[] | undefined;
      let step = '';
      let at = start;
      try {
        for (; end - at >= HEADER; ) {
          const word = view.getUint32(at, LITTLE);
          const length = LITTLE ? word & 0xffff : word >>> 16;
          const id = (LITTLE ? word >>> 16 : word) & NLA_TYPE_MASK;
          if (length < HEADER || length > end - at) throw tooLong(name, at, id, length, end);
          const from = at + HEADER;
          const to = at + length;
          at += (length + 3) & ~3;
          const known = byId[id];
          if (known === undefined) {
            if (window.declaredOnly === true) continue;
            unknown ??= [];
            unknown.push({ id, data: copyOf(window.bytes, from, to) });
            continue;
          }
          const { key, attribute } = known;
          step = key;
          if (attribute.codec === undefined) {
            later ??= [];
            later.push({ ...known, from, to });
          } else {
            const item = attribute.codec.read(window, from, to);
            const before = value[key] as unknown[] | undefined;
            if (attribute.kind === 'one') value[key] = item;
            else if (before === undefined) value[key] = [item];
            else before.push(item);
          }
          step = '';
        }
        if (at < end) noneCutOff(name, window, at, end);
        later?.forEach(({ key, attribute, from, to }) => {
          step = key;
          value[key] = attribute.codecFor(value).read(window, from, to);
        });
      } catch (error) {
        throw step === '' ? error : within(`${name}.${step}`, error);
      }
      if (unknown !== undefined) value['unknown'] = unknown;
      return value as AttributesValue<F>;
    },
    write(writer, value) {
      const given = value as Record<string, unknown>;
      const present = inOrder(given, declared().byKey);
      for (let at = 0; at < present.length; at++) {
        const { key, attribute } = present[at] as Declared;
        const payload = attribute.codec ?? attribute.codecFor(given);
        const type = attribute.id | (attribute.nested ? NLA_F_NESTED : 0);
        if (attribute.kind !== 'many') put(writer, type, payload, given[key]);
        else for (const item of given[key] as unknown[]) put(writer, type, payload, item);
      }
      if (value.unknown !== undefined) for (const { id, data } of value.unknown) put(writer, id, RAW, data);
    },
  };
  SETS.add(codec);
  return codec;
}

/** An attribute that occurs at most once. Sets and lists get the nested flag. */
export function attr<Out, In>(id: number, codec: Codec<Out, In>): Attribute<Out, In> {
  return always('one', id, codec);
}

/** An attribute that may be repeated at the same level; its value is the list of payloads. */
export function many<Out, In>(id: number, codec: Codec<Out, In>): Attribute<readonly Out[], readonly In[]> {
  return always('many', id, codec);
}

function always(kind: 'one' | 'many', id: number, any: Codec<never, never> | Codec<unknown, never>) {
  const codec = any as Codec<unknown, unknown>;
  return { id, kind, codec, codecFor: () => codec, nested: SETS.has(codec) };
}

/** The attributes of a set by their numbers and by their names. Few numbers are left out, so a list is a small table. */
function tablesOf(fields: AttributeFields) {
  const byKey = new Map<string, Declared>();
  const byId: (Declared | undefined)[] = [];
  for (const key of Object.keys(fields)) {
    const attribute = fields[key] as Attribute<unknown, unknown>;
    const declared: Declared = { key, attribute, index: byKey.size };
    byKey.set(key, declared);
    while (byId.length <= attribute.id) byId.push(undefined);
    byId[attribute.id] = declared;
  }
  return { byId, byKey };
}

/** Those of the set's attributes that are given, as they are declared: of dozens, few are. */
function inOrder(
  given: Readonly<Record<string, unknown>>,
  byKey: ReadonlyMap<string, Declared>,
): readonly Declared[] {
  const present: Declared[] = [];
  let last = -1;
  let sorted = true;
  const keys = Object.keys(given);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string;
    const declared = byKey.get(key);
    if (declared === undefined || given[key] === undefined) continue;
    if (declared.index < last) sorted = false;
    last = declared.index;
    present.push(declared);
  }
  return sorted ? present : present.sort((a, b) => a.index - b.index);
}

/** The value of a {@link choice}: the payload under the name of its variant, or raw bytes. */
export type ChoiceValue<V> = { readonly [K in keyof V]?: Value<V[K]> } & { readonly raw?: Uint8Array };
/** What a {@link choice} is written from. */
export type ChoiceInput<V> = { readonly [K in keyof V]?: Input<V[K]> | undefined } & {
  readonly raw?: Uint8Array | undefined;
};

/**
 * An attribute whose format is named by a sibling, such as IFLA_INFO_DATA by IFLA_INFO_KIND. Its value
 * holds the payload under the sibling's value, or under `raw` where that variant is not declared.
 *
 * @param id the attribute's number
 * @param by the name of the sibling that decides
 * @example
 * attrs('IFLA_INFO', { kind: attr(1, cstring), data: choice(2, 'kind', { vxlan, bridge }) });
 * // { kind: 'vxlan', data: { vxlan: { id: 42 } } }
 */
export function choice<const V extends Readonly<Record<string, Codec<never, never> | Codec<unknown, never>>>>(
  id: number,
  by: string,
  variants: V,
): Attribute<ChoiceValue<V>, ChoiceInput<V>> {
  return {
    id,
    kind: 'choice',
    nested: true,
    codecFor(siblings) {
      const tag = String(siblings[by]);
      const variant = Object.hasOwn(variants, tag) ? (variants[tag] as Codec<unknown, unknown>) : undefined;
      return under(variant === undefined ? 'raw' : tag, variant ?? RAW);
    },
  };
}

/** An attribute without payload, whose presence is the value. */
export const flag: Codec<true> = { name: 'flag', size: 0, read: () => true, write: () => undefined };

/**
 * A list in which every element is an attribute of the same type, such as NFTA_LIST_ELEM.
 *
 * @param id the type of each element
 */
export function elements<Out, In>(id: number, codec: Codec<Out, In>): Codec<readonly Out[], readonly In[]> {
  return listOf(
    codec,
    () => id,
    (found) => found === id,
  );
}

/** A list whose elements are attributes numbered 1, 2, 3 …, such as TCA_ACT_TAB. */
export function indexed<Out, In>(codec: Codec<Out, In>): Codec<readonly Out[], readonly In[]> {
  return listOf(
    codec,
    (index) => index + 1,
    () => true,
  );
}

function listOf<Out, In>(
  codec: Codec<Out, In>,
  idAt: (index: number) => number,
  wanted: (id: number) => boolean,
): Codec<readonly Out[], readonly In[]> {
  const name = `list of ${codec.name}`;
  const nested = SETS.has(codec) ? NLA_F_NESTED : 0;
  const list: Codec<readonly Out[], readonly In[]> = {
    name,
    size: undefined,
    read(window, start, end) {
      const found: Out[] = [];
      forEach(name, window, start, end, (id, from, to) => {
        if (!wanted(id)) return;
        try {
          found.push(codec.read(window, from, to));
        } catch (error) {
          throw within(`[${found.length}]`, error);
        }
      });
      return found;
    },
    write(writer, items) {
      items.forEach((item, index) => {
        put(writer, idAt(index) | nested, codec, item);
      });
    },
  };
  SETS.add(list);
  return list;
}

/** A function, not a generator: until they are compiled, iterators take several times as long. */
function forEach(
  name: string,
  window: Window,
  start: number,
  end: number,
  visit: (id: number, from: number, to: number) => void,
): void {
  let at = start;
  while (end - at >= HEADER) {
    const length = window.view.getUint16(at, LITTLE);
    const id = window.view.getUint16(at + 2, LITTLE) & NLA_TYPE_MASK;
    if (length < HEADER || length > end - at) throw tooLong(name, at, id, length, end);
    visit(id, at + HEADER, at + length);
    at += (length + 3) & ~3;
  }
  noneCutOff(name, window, at, end);
}

function tooLong(name: string, at: number, id: number, length: number, end: number): WireError {
  return new WireError(name, at, `has an attribute ${id} of ${length} bytes where ${end - at} are left`);
}

/** The last attribute's padding may be cut off; anything else behind it is a broken message. */
function noneCutOff(name: string, { bytes }: Window, from: number, end: number): void {
  for (let at = from; at < end; at++) {
    if (bytes[at] !== 0) throw new WireError(name, at, 'ends inside an attribute header');
  }
}

function put<In>(writer: Writer, type: number, codec: Codec<unknown, In>, value: In): void {
  const at = writer.reserve(HEADER);
  codec.write(writer, value);
  const length = writer.length - at;
  if (length > 0xffff) throw new WireError(codec.name, at, `takes ${length} bytes, an attribute holds 65535`);
  writer.view.setUint32(at, LITTLE ? (type << 16) | length : (length << 16) | type, LITTLE);
  if ((writer.length & 3) !== 0) writer.align(4);
}

function under(key: string, codec: Codec<unknown, unknown>): Codec<unknown, unknown> {
  return {
    name: codec.name,
    size: codec.size,
    read: (window, start, end) => ({ [key]: codec.read(window, start, end) }),
    write(writer, value) {
      const payload = (value as Record<string, unknown>)[key];
      if (payload !== undefined) codec.write(writer, payload);
    },
  };
}

const LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

const RAW: Codec<unknown, unknown> = {
  name: 'bytes',
  size: undefined,
  read: (window, start, end) => copyOf(window.bytes, start, end),
  write: (writer, value) => writer.append(value as Uint8Array),
};

/** Codecs whose payload is itself made of attributes. */
const SETS = new WeakSet<object>();
