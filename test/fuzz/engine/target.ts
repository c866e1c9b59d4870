/** What is fuzzed. */

/** What an input is made of, which decides how inputs are changed. */
export type Shape =
  | { readonly of: 'bytes' }
  /** Netlink attributes behind a struct of so many bytes. */
  | { readonly of: 'attributes'; readonly header: number }
  | { readonly of: 'text' }
  | { readonly of: 'json' };

/** A decoder, and what has to be true of it for every input. */
export interface Target {
  /** Names its folder in the corpus. */
  readonly name: string;
  readonly shape: Shape;
  /** Inputs to begin with: good ones, as the other side writes them. */
  readonly seeds: () => Iterable<Uint8Array>;
  /** Throws when what has to be true is not. */
  readonly run: (input: Uint8Array) => void | Promise<void>;
}

/** The class of an error; an abstract one will do. */
export type ErrorClass = abstract new (...args: never[]) => Error;

/** The decoder's value, or `undefined` where it refuses the input with one of its own errors; any other is a fault. */
export function valueUnless<T>(refusals: readonly ErrorClass[], decoder: () => T): T | undefined {
  try {
    return decoder();
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return undefined;
    throw error;
  }
}

/** A text as an input. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** An input as a text. */
export function textOf(input: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(input);
}

/** Inputs written as texts. */
export function textSeeds(...texts: readonly string[]): () => readonly Uint8Array[] {
  return () => texts.map(bytesOf);
}

/** Inputs written as JSON values. */
export function jsonSeeds(...values: readonly unknown[]): () => readonly Uint8Array[] {
  return () => values.map((value) => bytesOf(JSON.stringify(value)));
}
