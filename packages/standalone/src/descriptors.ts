/** Whole reads and writes of descriptors that may be pipes in any mode. */
import { readSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Reads a descriptor to its end. */
export function readToEnd(fd: number): Uint8Array {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const chunk = new Uint8Array(16 * 1024);
    const length = patiently(() => readSync(fd, chunk));
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, length));
  }
}

/** What VERSION is asked with: nothing when it cannot be read, or when a person at a terminal would have to type it. */
export function readQuestion(fd: number): string {
  try {
    return isatty(fd) ? '' : new TextDecoder().decode(readToEnd(fd));
  } catch {
    return '';
  }
}

/**
 * Writes all of `text`. A reader that has gone is no error: nobody is left to be told.
 *
 * @throws the system's error, such as ENOSPC
 */
export function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length; ) done += patiently(() => writeSync(fd, bytes, done));
  } catch (error) {
    if (!['EPIPE', 'EBADF'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Writes what is only said beside the answer: that it cannot be said must not cost the answer. */
export function writeBestEffort(fd: number, text: string): void {
  try {
    writeWhole(fd, text);
  } catch {
    // There is no other place to say it.
  }
}

/** Repeats an operation while a descriptor in non-blocking mode is not ready. */
function patiently(operation: () => number): number {
  for (;;) {
    try {
      return operation();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
