/** Values with a type: what is read is checked before anybody works with it. */
import * as v from 'valibot';
import type { Entry } from './store.ts';
import { StoreError } from './store-error.ts';

/** Turns values of a type into text and back. */
export interface ValueCodec<T> {
  encode(value: T): string;
  /** @throws {StoreError} STORE_VALUE_INVALID with the key, and where in the value the fault is */
  decode(entry: Pick<Entry, 'key' | 'value'>): T;
}

/**
 * A codec for JSON that a schema describes.
 *
 * @param what the thing, for messages
 * @param schema what the text must be after JSON.parse; its output is the value
 * @param write the reverse of the schema's transformations, where it has some
 * @example
 * const nodes = jsonCodec('node', v.object({ name: v.string() }));
 * nodes.decode(entry).name;
 */
export function jsonCodec<S extends v.GenericSchema>(
  what: string,
  schema: S,
  write: (value: v.InferOutput<S>) => unknown = (value) => value,
): ValueCodec<v.InferOutput<S>> {
  return {
    encode: (value) => JSON.stringify(write(value)),
    decode({ key, value }) {
      const wrong = (why: string, cause?: unknown) =>
        new StoreError('STORE_VALUE_INVALID', `${key}: not a ${what}: ${why}`, { keys: [key], cause });
      let parsed: unknown;
      try {
        parsed = JSON.parse(value);
      } catch (error) {
        throw wrong('no JSON', error);
      }
      const result = v.safeParse(schema, parsed);
      if (result.success) return result.output;
      const [issue] = result.issues;
      const place = v.getDotPath(issue);
      throw wrong(place === null ? issue.message : `${place}: ${issue.message}`);
    },
  };
}

/**
 * The schema of a value that stands in JSON as text.
 *
 * @param what the thing, for messages: `Expected an address, received "x"`
 * @param parse gives `undefined` for what is none
 * @example v.object({ addr: parsed('an address', Addr.tryParse) });
 */
export function parsed<T>(what: string, parse: (value: string) => T | undefined): v.GenericSchema<string, T> {
  return v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const value = parse(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message: `Expected ${what}, received ${JSON.stringify(dataset.value)}` });
      return NEVER;
    }),
  );
}
