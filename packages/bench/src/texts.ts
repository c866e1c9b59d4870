/** Lists of texts as the driver reads and writes them: netstrings (`5:hello,`), one after the other. */
import { BenchError } from './bench-error.ts';

/** What a list can hold. */
export type Text = string | number | Uint8Array;

/** A list as bytes. A list inside a list is a text. */
export function encodeTexts(texts: readonly Text[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const bytes = text instanceof Uint8Array ? text : Buffer.from(String(text));
      return [Buffer.from(`${bytes.length}:`), bytes, COMMA];
    }),
  );
}

/**
 * The texts of a list.
 *
 * @throws {BenchError} BENCH_DRIVER when the bytes are no list
 */
export function decodeTexts(bytes: Buffer): readonly Buffer[] {
  const texts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const text = firstText(bytes, at);
    if (text === undefined) throw new BenchError('BENCH_DRIVER', 'the driver has answered nonsense');
    texts.push(bytes.subarray(text.start, text.end));
    at = text.end + 1;
  }
  return texts;
}

/**
 * Where the text at an offset is; `undefined` while it is not complete.
 *
 * @throws {BenchError} BENCH_DRIVER when there is no text, whatever follows
 */
export function firstText(
  bytes: Buffer,
  at = 0,
): { readonly start: number; readonly end: number } | undefined {
  const colon = bytes.indexOf(':', at);
  if (colon < 0) return undefined;
  const start = colon + 1;
  const size = bytes.toString('latin1', at, colon);
  if (!/^\d+$/.test(size)) throw new BenchError('BENCH_DRIVER', 'the driver has answered nonsense');
  const end = start + Number(size);
  return bytes.length > end && bytes[end] === COMMA[0] ? { start, end } : undefined;
}

const COMMA = Buffer.from(',');
