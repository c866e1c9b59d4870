/** `node:fs`, as much of it as the program uses. */
import { join } from './path.ts';

export {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from './fs-calls.ts';
export { fstatSync, statSync } from './fs-stats.ts';

import { closeSync, openSync } from './fs-calls.ts';

type Data = string | Uint8Array;

interface WriteOptions {
  readonly flag?: string;
  readonly mode?: number;
  readonly flush?: boolean;
}

export function readFileSync(file: string | number): Uint8Array;
export function readFileSync(file: string | number, encoding: 'utf8' | 'latin1'): string;
export function readFileSync(file: string | number, encoding?: 'utf8' | 'latin1'): Data {
  const fd = typeof file === 'number' ? file : openSync(file);
  try {
    const bytes = readToEnd(fd);
    return encoding === undefined ? bytes : host.decode(bytes);
  } finally {
    if (fd !== file) closeSync(fd);
  }
}

function readToEnd(fd: number): Uint8Array {
  let bytes = new Uint8Array(4096);
  let size = 0;
  for (;;) {
    const count = host.read(fd, bytes, size, bytes.length - size, -1);
    if (count === 0) return bytes.subarray(0, size);
    size += count;
    if (size < bytes.length) continue;
    const larger = new Uint8Array(size * 4);
    larger.set(bytes);
    bytes = larger;
  }
}

export function writeFileSync(file: string | number, data: Data, options: WriteOptions = {}): void {
  const { flag = 'w', mode = 0o666, flush = false } = options;
  const bytes = typeof data === 'string' ? host.encode(data) : data;
  const fd = typeof file === 'number' ? file : openSync(file, flag, mode);
  try {
    for (let at = 0; at < bytes.length; ) at += host.write(fd, bytes, at, bytes.length - at, -1);
    if (flush) host.fsync(fd);
  } finally {
    if (fd !== file) closeSync(fd);
  }
}

export function mkdirSync(path: string, { mode = 0o777 }: { readonly mode?: number } = {}): void {
  host.mkdir(path, mode);
}

/** A new directory: its name is the given one and six characters of chance. */
export function mkdtempSync(prefix: string): string {
  const chance = host.fillRandom(new Uint8Array(6));
  const path = prefix + Array.from(chance, (byte) => LETTERS[byte % LETTERS.length]).join('');
  host.mkdir(path, 0o700);
  return path;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

export interface Dirent {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Sorted, as Node.js does. */
export function readdirSync(path: string): string[];
export function readdirSync(path: string, options: { readonly withFileTypes: true }): Dirent[];
export function readdirSync(path: string, options?: { readonly withFileTypes: true }): (string | Dirent)[] {
  const entries = host.readdir(path);
  const names = entries.filter((each) => typeof each === 'string');
  if (options === undefined) return names;
  const types = entries.filter((each) => typeof each === 'number');
  return names.map((name, i) => dirent(name, types[i] ?? 0));
}

/** Source: dirent.h (DT_DIR, DT_REG, DT_LNK). */
function dirent(name: string, type: number): Dirent {
  return { name, isDirectory: () => type === 4, isFile: () => type === 8, isSymbolicLink: () => type === 10 };
}

export function rmSync(
  path: string,
  options: { readonly force?: boolean; readonly recursive?: boolean } = {},
): void {
  try {
    host.unlink(path);
  } catch (error) {
    if (options.force === true && isCode(error, 'ENOENT')) return;
    if (options.recursive !== true || !isCode(error, 'EISDIR')) throw error;
    for (const name of readdirSync(path)) rmSync(join(path, name), options);
    host.rmdir(path);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
