/** What an extension of iptables is here: its options in words, and its struct for the kernel. */
import type { Prefix } from '@heddle/netaddr';

/** An option of a rule: `! --mark 0x1` is `mark`, negated, with one value. */
export interface Option {
  readonly name: string;
  readonly negated: boolean;
  readonly values: readonly string[];
}

/** What an extension has to know of the rule that it is in. */
interface Surroundings {
  readonly family: Prefix['family'];
}

/** One match or target. */
export interface Extension {
  readonly name: string;
  readonly revision: number;
  /** The options that belong to it. */
  readonly options: readonly string[];
  /** The struct for these options; `undefined` when they say something that cannot be written here. */
  write(options: readonly Option[], surroundings: Surroundings): Uint8Array | undefined;
  /**
   * The options as iptables-save prints them; `undefined` when the struct says more than can be told.
   *
   * @throws {WireError} when it is no such struct
   */
  read(info: Uint8Array, surroundings: Surroundings): readonly string[] | undefined;
}

/** An integer in decimal or, behind `0x`, hexadecimal digits that is at most `max`. */
export function numberIn(text: string | undefined, max: number): number | undefined {
  if (text === undefined || !/^(0x[0-9a-f]+|[0-9]+)$/i.test(text)) return undefined;
  const number = Number(text);
  return number <= max ? number : undefined;
}

/** A mark as iptables prints it. */
export function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

/** `value` or `value/mask`, as options of marks have it; without a mask all bits count. */
export function markIn(
  text: string | undefined,
): { readonly mark: number; readonly mask: number } | undefined {
  const [first, second] = text?.split('/') ?? [];
  const mark = numberIn(first, ALL_BITS);
  const mask = second === undefined ? ALL_BITS : numberIn(second, ALL_BITS);
  return mark === undefined || mask === undefined ? undefined : { mark, mask };
}

/** A mask that leaves nothing out. */
export const ALL_BITS = 0xffff_ffff;
