/**
 * Reading JSON with good manners: what is wrong with a text is said in words, with file, line and column.
 * A correct text costs one `JSON.parse`; only a wrong one is read a second time to find the place.
 */
import { DecodeError, type DecodeErrorOptions } from './errors.ts';
import { describeSyntaxProblem, UNEXPECTED_END } from './json-syntax.ts';
import type { JsonValue } from './json-value.ts';

/** How to speak of the text in errors. */
export interface ParseJsonOptions {
  /** The file that the text is from. */
  readonly file?: string;
  /** The activity; errors begin with it. */
  readonly what?: string;
}

/** How deep a document may be nested. */
export const MAX_DEPTH = 500;

/**
 * The value of a JSON text. Whole numbers that a `number` cannot hold exactly become bigints, so that they
 * pass through unharmed.
 *
 * @throws {DecodeError} saying what is wrong, and where.
 * @example parseJson('{"mtu": 1500,}', { file: 'a.conf' }) // a.conf:1:13: unexpected comma before }
 */
export function parseJson(input: string | Uint8Array, options: ParseJsonOptions = {}): JsonValue {
  const text = decodeText(input, options);
  checkDepth(text, options);
  try {
    const value: JsonValue = JSON.parse(text);
    return holdsUnsafeInteger(value) ? JSON.parse(text, keepUnsafeIntegers as Reviver) : value;
  } catch (error) {
    const { reason, note, line, column } = describeSyntaxProblem(text);
    throw failure(reason, note, { ...options, line, column, cause: error });
  }
}

/**
 * The text of a configuration's bytes.
 *
 * @throws {DecodeError} for UTF-16 and for a byte order mark: Go's decoder, and so every other runtime on
 * the node, refuses both.
 */
export function decodeText(input: string | Uint8Array, options: ParseJsonOptions = {}): string {
  const text = typeof input === 'string' ? input : utf8.decode(input);
  const encoding = typeof input === 'string' ? undefined : otherEncoding(input);
  if (encoding !== undefined) {
    throw failure(`the text is ${encoding}, but JSON must be UTF-8`, undefined, {
      ...options,
      line: 1,
      column: 1,
    });
  }
  if (text.startsWith('\ufeff')) {
    const reason = 'the text begins with a byte order mark, which JSON does not allow';
    throw failure(reason, undefined, { ...options, line: 1, column: 1 });
  }
  return text;
}

type Reviver = (this: unknown, key: string, value: unknown) => unknown;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

// The third argument is the "source text access" of ECMAScript, which the library types do not have yet.
function keepUnsafeIntegers(_key: string, value: unknown, context: { source?: string }): unknown {
  const { source } = context;
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** Whether any number of a value may have been another in the text. */
function holdsUnsafeInteger(value: JsonValue): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsUnsafeInteger);
  for (const key of Object.keys(value)) {
    if (holdsUnsafeInteger((value as Readonly<Record<string, JsonValue>>)[key] as JsonValue)) return true;
  }
  return false;
}

function otherEncoding(bytes: Uint8Array): string | undefined {
  const first = bytes[0];
  const second = bytes[1];
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'UTF-16 (little endian)';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== undefined))
    return 'UTF-16 (big endian)';
  return undefined;
}

/** Recursive code further on relies on this limit. */
function checkDepth(text: string, options: ParseJsonOptions): void {
  // Nearly every text has too few brackets to be that deep, whichever of them are inside of strings.
  if (countOf(text, '{') + countOf(text, '[') <= MAX_DEPTH) return;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i++;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) depth++;
    else if (char === 0x7d || char === 0x5d) depth--;
    if (depth > MAX_DEPTH) throw failure(`nested more than ${MAX_DEPTH} levels deep`, undefined, options);
  }
}

function countOf(text: string, char: string): number {
  let count = 0;
  for (let at = text.indexOf(char); at >= 0; at = text.indexOf(char, at + 1)) count++;
  return count;
}

function failure(reason: string, note: string | undefined, options: DecodeErrorOptions): DecodeError {
  const code = reason === UNEXPECTED_END ? 'JSON_TRUNCATED' : 'JSON_SYNTAX';
  return new DecodeError(reason, { code, ...options, ...(note !== undefined && { cniDetails: note }) });
}
