/** Bytes that can be told from others at any place of a stream. */

const PERIOD = 251;
/** How many bytes are sent, or compared, at once. */
export const CHUNK = 65_536;

const REPEATED = Buffer.from(Array.from({ length: CHUNK + PERIOD }, (_, index) => index % PERIOD));

/** The bytes that belong at a place, at most {@link CHUNK}. */
export function patternAt(offset: number, length: number): Buffer {
  const start = offset % PERIOD;
  return REPEATED.subarray(start, start + Math.min(length, CHUNK));
}
