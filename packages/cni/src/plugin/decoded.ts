/**
 * What a process that stays has decoded before: the pods of a network share a configuration, and the plugins of a chain
 * get the same result one after the other. Decoding depends on nothing but the text, so each is decoded once.
 */
import type { JsonObject, JsonValue } from '../json-value.ts';

/** See the file's comment. What it gives is frozen. */
export class Decoded {
  readonly #known = new Map<string, unknown>();
  /** Of whole texts, and what was decoded from the value of each, by purpose. */
  readonly #whole = new Map<string, unknown>();
  readonly #ofKept = new WeakMap<object, Map<string, unknown>>();

  /** What was kept for a text, which is the text of some input as it came. */
  wholeOf<T>(text: string): T | undefined {
    return this.#whole.get(text) as T | undefined;
  }

  /**
   * Keeps what a text says.
   *
   * @param value the part of it that further values are decoded from
   */
  keepWhole<T>(text: string, whole: T, value: JsonObject): void {
    if (text.length > LONGEST) return;
    if (this.#whole.size >= MOST) this.#whole.delete(this.#whole.keys().next().value as string);
    this.#whole.set(text, whole);
    this.#ofKept.set(frozen(value), new Map());
  }

  /** Whether a value is part of something that is kept: what is decoded from it is found without looking at it. */
  keeps(value: object): boolean {
    return this.#ofKept.has(value);
  }

  /**
   * What was decoded from an equal value for the same purpose, or else what `decode` gives now.
   *
   * @param purpose what it is decoded as; equal purposes decode equally
   */
  recall<T>(purpose: string, value: JsonValue, decode: () => T): T {
    const kept = typeof value === 'object' && value !== null ? this.#ofKept.get(value) : undefined;
    if (kept !== undefined) {
      if (!kept.has(purpose)) kept.set(purpose, frozen(decode()));
      return kept.get(purpose) as T;
    }
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
