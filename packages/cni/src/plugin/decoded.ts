/**
 * What a process that stays has decoded before: the pods of a network share a configuration, and the plugins of a chain
 * get the same result one after the other. Decoding depends on nothing but the text, so each is decoded once.
 */
import type { JsonValue } from '../json-value.ts';

/** See the file's comment. What it gives is frozen. */
export class Decoded {
  readonly #known = new Map<string, unknown>();

  /**
   * What was decoded from an equal value for the same purpose, or else what `decode` gives now.
   *
   * @param purpose what it is decoded as; equal purposes decode equally
   */
  recall<T>(purpose: string, value: JsonValue, decode: () => T): T {
    const key = keyOf(purpose, value);
    if (key === undefined) return decode();
    const known = this.#known.get(key);
    if (known !== undefined) return known as T;
    const decoded = frozen(decode());
    if (this.#known.size >= MOST) this.#known.delete(this.#known.keys().next().value as string);
    this.#known.set(key, decoded);
    return decoded;
  }
}

const MOST = 64;
/** Characters. */
const LONGEST = 8192;

/** Undefined for what is not worth it, or where different values may have the same text. */
function keyOf(purpose: string, value: JsonValue): string | undefined {
  try {
    const text = JSON.stringify(value);
    // A number beyond all bounds is written as null.
    return text.length > LONGEST || text.includes('null') ? undefined : `${purpose} ${text}`;
  } catch {
    // It holds a number that only a bigint can.
    return undefined;
  }
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  const prototype = Object.getPrototypeOf(value);
  // Addresses and the like never change.
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
