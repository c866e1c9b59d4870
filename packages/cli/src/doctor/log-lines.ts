/** The lines of a log, however long it is. */
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';

/**
 * Reads a file line by line, with never more than a piece of it in memory.
 *
 * @param path `-` for stdin
 * @throws {CommandError} when it cannot be read
 */
export function* logLines(path: string): Generator<string> {
  const fd = path === '-' ? STDIN : attempt(path, () => openSync(path, 'r'));
  try {
    const decoder = new StringDecoder('utf8');
    const piece = new Uint8Array(PIECE);
    let rest = '';
    for (let length = next(path, fd, piece); length > 0; length = next(path, fd, piece)) {
      const lines = `${rest}${decoder.write(piece.subarray(0, length))}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
      // What never ends a line is no log: it is told in parts.
      if (rest.length > LONGEST) {
        yield rest;
        rest = '';
      }
    }
    if (rest !== '') yield rest;
  } finally {
    if (fd !== STDIN) closeSync(fd);
  }
}

const STDIN = 0;
const PIECE = 64 * 1024;
/** Characters. */
const LONGEST = 256 * 1024;

function next(path: string, fd: number, piece: Uint8Array): number {
  return attempt(path, () => readSync(fd, piece));
}

function attempt<T>(path: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(EXIT.FAILED, `doctor logs: cannot read ${path}: ${message}`, { cause: error });
  }
}
