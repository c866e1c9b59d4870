/** Changes to bytes that know nothing of what they mean. */
import type { Choices } from '../../support/choices.ts';

/** What changes are made with. */
export interface Materials {
  readonly choices: Choices;
  /** What the code compares input with, perhaps: the literals of its modules. */
  readonly dictionary: readonly Uint8Array[];
  /** Another input, to take parts of. */
  readonly other: () => Uint8Array;
}

/** The input after one change. */
export function changeBytes(input: Uint8Array, materials: Materials): Uint8Array {
  const { choices, dictionary } = materials;
  const at = choices.below(input.length + 1);
  if (input.length === 0) return insert(input, 0, piece(materials));
  switch (choices.below(12)) {
    case 0:
      return overwrite(input, at, Uint8Array.of((input[at] ?? 0) ^ (1 << choices.below(8))));
    case 1:
      return overwrite(input, at, Uint8Array.of(choices.below(256)));
    case 2:
      return overwrite(input, at, interesting(choices));
    case 3:
      return insert(input, at, piece(materials));
    case 4:
      return remove(input, at, 1 + choices.below(choices.chance(3) ? input.length : 4));
    case 5:
      return insert(input, at, input.subarray(at, at + 1 + choices.below(32)));
    case 6:
      return input.slice(0, at);
    case 7:
      return splice(input, materials);
    case 8: {
      const sum = (input[at] ?? 0) + choices.below(33) - 16;
      return overwrite(input, at, Uint8Array.of(sum & 0xff));
    }
    default:
      return dictionary.length === 0
        ? overwrite(input, at, interesting(choices))
        : overwrite(input, at, word(materials));
  }
}

/** The beginning of one input and the end of another. */
function splice(input: Uint8Array, { choices, other }: Materials): Uint8Array {
  const from = other();
  return joined([
    input.subarray(0, choices.below(input.length + 1)),
    from.subarray(choices.below(from.length + 1)),
  ]);
}

/** Something to insert. */
export function piece(materials: Materials): Uint8Array {
  const { choices, dictionary } = materials;
  if (dictionary.length > 0 && choices.chance(6)) return word(materials);
  return Uint8Array.from({ length: 1 + choices.below(8) }, () => choices.below(256));
}

function word({ choices, dictionary }: Materials): Uint8Array {
  return dictionary[choices.below(dictionary.length)] ?? new Uint8Array(0);
}

/** Numbers at the edges of their ranges, in one, two, four or eight bytes of either order. */
function interesting(choices: Choices): Uint8Array {
  const size = choices.one([1, 2, 4, 8]);
  const number = choices.one([
    0n,
    1n,
    3n,
    4n,
    16n,
    0x7fn,
    0x80n,
    0xffn,
    0x7fffn,
    0xffffn,
    0x7fffffffn,
    -1n,
    -2n,
  ]);
  const bytes = Uint8Array.from({ length: size }, (_, index) =>
    Number((number >> BigInt(8 * index)) & 0xffn),
  );
  return choices.chance(5) ? bytes : bytes.reverse();
}

function overwrite(input: Uint8Array, at: number, bytes: Uint8Array): Uint8Array {
  const output = input.slice();
  const from = Math.min(at, Math.max(0, input.length - bytes.length));
  output.set(bytes.subarray(0, output.length - from), from);
  return output;
}

/** The input with `bytes` between what was before and behind `at`. */
export function insert(input: Uint8Array, at: number, bytes: Uint8Array): Uint8Array {
  return joined([input.subarray(0, at), bytes, input.subarray(at)]);
}

/** The input without so many bytes. */
export function remove(input: Uint8Array, at: number, count: number): Uint8Array {
  return joined([input.subarray(0, at), input.subarray(at + count)]);
}

/** Bytes one behind the other. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const output = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    output.set(part, at);
    at += part.length;
  }
  return output;
}
