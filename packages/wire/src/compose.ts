/** Codecs made from other codecs. */

import { once } from '#once';
import type { Codec, Input, Value } from './codec.ts';

/**
 * A fixed header followed, at the next multiple of four bytes, by attributes: the shape of every
 * rtnetlink and nfnetlink message.
 *
 * @example const link = headed(ifinfomsg, linkAttrs); // { index: 1, …, attributes: { ifname: 'lo' } }
 */
export function headed<H extends Codec<object, object>, A extends Codec<unknown, never>>(
  header: H,
  attributes: A,
): Codec<
  Value<H> & { readonly attributes: Value<A> },
  Input<H> & { readonly attributes?: Input<A> | undefined }
> {
  if (header.size === undefined) throw new TypeError(`${header.name} has no fixed size`);
  const offset = (header.size + 3) & ~3;
  const set = attributes as unknown as Codec<Value<A>, Input<A>>;
  return {
    name: header.name,
    size: undefined,
    read(window, start, end) {
      const head = header.read(window, start, end) as Value<H>;
      const from = Math.min(start + offset, end);
      return { ...head, attributes: set.read(window, from, end) };
    },
    write(writer, value) {
      header.write(writer, value);
      writer.align(4);
      if (value.attributes !== undefined) set.write(writer, value.attributes);
    },
  };
}

/** As many values, one behind the other, as fit: a C array without a length. */
export function repeated<Out, In>(codec: Codec<Out, In>): Codec<readonly Out[], readonly In[]> {
  const size = codec.size;
  if (size === undefined) throw new TypeError(`${codec.name} has no fixed size`);
  return {
    name: `${codec.name}[]`,
    size: undefined,
    read(window, start, end) {
      const found: Out[] = [];
      for (let at = start; at < end; at += size) {
        found.push(codec.read(window, at, end));
      }
      return found;
    },
    write(writer, items) {
      for (const item of items) codec.write(writer, item);
    },
  };
}

/**
 * A number with names. A number that has no name passes through as it is, both ways.
 *
 * @example const scope = oneOf(u8, { universe: 0, link: 253, host: 254 }); // 'link' ↔ 253, 7 ↔ 7
 */
export function oneOf<const M extends Readonly<Record<string, number>>>(
  codec: Codec<number>,
  names: M,
): Codec<(keyof M & string) | number> {
  const byNumber = once(
    () => new Map(Object.entries(names).map(([name, number]) => [number, name as keyof M & string])),
  );
  return mapped(codec, {
    read: (number) => byNumber().get(number) ?? number,
    write: (value) => (typeof value === 'number' ? value : (names[value] as number)),
  });
}

/** A codec with another view of its values, such as a boolean held in a byte. */
export function mapped<Out, In, Out2, In2>(
  codec: Codec<Out, In>,
  between: { readonly read: (value: Out) => Out2; readonly write: (value: In2) => In },
): Codec<Out2, In2> {
  return {
    name: codec.name,
    size: codec.size,
    read: (window, start, end) => between.read(codec.read(window, start, end)),
    write: (writer, value) => codec.write(writer, between.write(value)),
  };
}

/** A truth value held in a number: 0 or 1. */
export function bool(codec: Codec<number>): Codec<boolean> {
  return mapped(codec, { read: (number) => number !== 0, write: (value: boolean) => (value ? 1 : 0) });
}
