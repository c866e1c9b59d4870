/**
 * The options of a DHCP message: one byte of code, one byte of length, the value (RFC 2132 §2). A value that is
 * longer than 255 bytes is spread over several options of the same code, which are read as one (RFC 3396).
 *
 * Servers are strangers: an option that is not of its format counts as unknown, and the rest still holds.
 */
import { type Codec, decode, encode, WireError } from '@heddle/wire';

/** One declared option; made by {@link option}. */
export interface Option<Out, In = Out> {
  readonly code: number;
  readonly codec: Codec<Out, In>;
}

/** The declaration of options by name. */
export type OptionFields = Readonly<Record<string, Option<never, never> | Option<unknown, never>>>;

/** An option that is not declared or not of its format, kept as it came and written as it is. */
export interface RawOption {
  readonly code: number;
  readonly data: Uint8Array;
}

/** What reading options gives. */
export type OptionsValue<F extends OptionFields> = {
  readonly [K in keyof F]?: F[K] extends Option<infer Out, infer _In> ? Out : never;
} & { readonly unknown?: readonly RawOption[] };

/** What writing options takes. */
export type OptionsInput<F extends OptionFields> = {
  readonly [K in keyof F]?: (F[K] extends Option<infer _Out, infer In> ? In : never) | undefined;
} & { readonly unknown?: readonly RawOption[] | undefined };

/** How a set of options is read from the areas of a message that hold some, and written into one. */
export interface OptionSet<F extends OptionFields> {
  /**
   * Reads the options of one area after the other.
   *
   * @throws {WireError} when an option does not fit into its area
   */
  read(areas: readonly Uint8Array[]): OptionsValue<F>;
  /** Writes options in the order of their declaration, those in `unknown` last, and the end mark. */
  write(options: OptionsInput<F>): Uint8Array;
}

/** A declared option. */
export function option<Out, In>(code: number, codec: Codec<Out, In>): Option<Out, In> {
  return { code, codec };
}

/**
 * A set of options.
 *
 * @example
 * const lease = optionSet({ leaseTime: option(51, u32be) });
 * lease.read([Uint8Array.of(51, 4, 0, 0, 0, 60, 255)]); // { leaseTime: 60 }
 */
export function optionSet<const F extends OptionFields>(fields: F): OptionSet<F> {
  const declared = Object.entries(fields) as [string, Option<unknown, unknown>][];
  const byCode = new Map(declared.map(([key, { code, codec }]) => [code, { key, codec }]));
  return {
    read(areas) {
      const value: Record<string, unknown> = {};
      const unknown: RawOption[] = [];
      for (const [code, data] of collect(areas)) {
        const known = byCode.get(code);
        const read = known && attempt(known.codec, data);
        if (known !== undefined && read !== undefined) value[known.key] = read;
        else unknown.push({ code, data });
      }
      return { ...value, ...(unknown.length > 0 && { unknown }) } as OptionsValue<F>;
    },
    write(options) {
      const given = options as Readonly<Record<string, unknown>>;
      const written = declared
        .filter(([key]) => given[key] !== undefined)
        .map(([key, { code, codec }]) => ({ code, data: encode(codec, given[key]) }));
      return Uint8Array.from([...[...written, ...(options.unknown ?? [])].flatMap(split), END]);
    },
  };
}

const PAD = 0;
const END = 255;
/** What one option holds at most. */
const LIMIT = 255;

/** The values by code, in the order in which the codes first occur. */
function collect(areas: readonly Uint8Array[]): ReadonlyMap<number, Uint8Array> {
  const found = new Map<number, Uint8Array>();
  for (const area of areas) {
    for (const { code, data } of each(area)) {
      const before = found.get(code);
      found.set(code, before === undefined ? data : Uint8Array.from([...before, ...data]));
    }
  }
  return found;
}

function* each(area: Uint8Array): Generator<RawOption> {
  for (let at = 0; at < area.length; ) {
    const code = area[at] ?? END;
    if (code === END) return;
    if (code === PAD) {
      at += 1;
      continue;
    }
    const length = area[at + 1];
    if (length === undefined || at + 2 + length > area.length) {
      throw new WireError('DHCP options', at, `end inside option ${code}`);
    }
    yield { code, data: area.slice(at + 2, at + 2 + length) };
    at += 2 + length;
  }
}

function attempt(codec: Codec<unknown, unknown>, data: Uint8Array): unknown {
  try {
    return decode(codec, data);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

function split({ code, data }: RawOption): readonly number[] {
  const bytes: number[] = [];
  let at = 0;
  do {
    const part = data.subarray(at, at + LIMIT);
    bytes.push(code, part.length, ...part);
    at += LIMIT;
  } while (at < data.length);
  return bytes;
}
