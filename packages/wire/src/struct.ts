/** C structs: fields one behind the other, without hidden padding. */
import { type Codec, type Input, need, type Value } from './codec.ts';
import { within } from './wire-error.ts';

/** The fields of a struct by name, in their order in memory. */
export type Fields = Readonly<Record<string, Codec<never, never> | Codec<unknown, never>>>;

/** A field with its place. */
interface Field {
  readonly key: string;
  readonly codec: Codec<unknown, unknown>;
  readonly size: number;
  readonly offset: number;
}

declare const PADDING: unique symbol;
/** The marker type of {@link pad}: such a field is absent from the struct's value. */
export type Padding = { readonly [PADDING]: true };

type Named<F extends Fields> = { [K in keyof F as Value<F[K]> extends Padding ? never : K]: F[K] };

/** What reading a struct gives: every named field. */
export type StructValue<F extends Fields> = { readonly [K in keyof Named<F>]: Value<Named<F>[K]> };
/** What writing a struct takes: any of its fields; those left out are zero. */
export type StructInput<F extends Fields> = {
  readonly [K in keyof Named<F>]?: Input<Named<F>[K]> | undefined;
};

/** A struct's codec, and with it each of its fields alone. */
export type StructCodec<F extends Fields> = Codec<StructValue<F>, StructInput<F>> & {
  /**
   * Reads one field of the struct and passes over the others, for what is looked at far more often than the rest.
   *
   * @example const typeOf = nlmsghdr.field('type').read(window, start, end);
   */
  field<K extends keyof Named<F>>(key: K): Pick<Codec<Value<Named<F>[K]>>, 'read'>;
};

/**
 * A struct of fixed size.
 *
 * @param name the C struct's name, for error messages
 * @param fields the fields in order, each of fixed size; padding is declared with {@link pad}
 * @example
 * const rtgenmsg = struct('rtgenmsg', { family: u8, pad: pad(3) });
 */
export function struct<const F extends Fields>(name: string, fields: F): StructCodec<F> {
  const layout: Field[] = [];
  const named: Field[] = [];
  let total = 0;
  for (const key in fields) {
    const codec = fields[key] as unknown as Codec<unknown, unknown>;
    if (codec.size === undefined) throw new TypeError(`struct ${name}: field ${key} has no fixed size`);
    const field = { key, codec, size: codec.size, offset: total };
    layout.push(field);
    if (!PADS.has(codec)) named.push(field);
    total += codec.size;
  }
  return {
    name,
    size: total,
    read(window, start, end) {
      need(name, total, start, end);
      const value: Record<string, unknown> = {};
      const limit = start + total;
      let at = 0;
      try {
        for (; at < named.length; at++) {
          const field = named[at] as Field;
          value[field.key] = field.codec.read(window, start + field.offset, limit);
        }
      } catch (error) {
        throw within((named[at] as Field).key, error);
      }
      return value as StructValue<F>;
    },
    field(key) {
      const { codec, offset } = named.find((field) => field.key === key) as Field;
      const end = offset + (codec.size as number);
      return {
        read(window, start, to) {
          need(name, end, start, to);
          return codec.read(window, start + offset, start + end) as never;
        },
      };
    },
    write(writer, value) {
      const given = value as Record<string, unknown>;
      let zeros = 0;
      for (let at = 0; at < layout.length; at++) {
        const { key, codec, size } = layout[at] as Field;
        const field = given[key];
        if (field === undefined) {
          zeros += size;
          continue;
        }
        if (zeros > 0) writer.reserve(zeros);
        zeros = 0;
        codec.write(writer, field);
      }
      if (zeros > 0) writer.reserve(zeros);
    },
  };
}

/** `size` bytes that mean nothing: ignored on reading, zero on writing. */
export function pad(size: number): Codec<Padding> {
  const codec: Codec<Padding> = {
    name: `pad(${size})`,
    size,
    read: () => undefined as unknown as Padding,
    write: (writer) => {
      writer.reserve(size);
    },
  };
  PADS.add(codec);
  return codec;
}

const PADS = new WeakSet<object>();
