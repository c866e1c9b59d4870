/** `fs.Stats`, as much of it as the program uses. */
export class Stats {
  readonly dev: number;
  readonly ino: number;
  readonly mode: number;
  readonly uid: number;
  readonly size: number;
  readonly mtimeMs: number;

  constructor([dev = 0, ino = 0, mode = 0, uid = 0, size = 0, mtimeMs = 0]: readonly number[]) {
    this.dev = dev;
    this.ino = ino;
    this.mode = mode;
    this.uid = uid;
    this.size = size;
    this.mtimeMs = mtimeMs;
  }

  isDirectory(): boolean {
    return (this.mode & FORMAT) === DIRECTORY;
  }

  isFile(): boolean {
    return (this.mode & FORMAT) === REGULAR;
  }
}

/** Source: sys/stat.h (S_IFMT, S_IFDIR, S_IFREG). */
const FORMAT = 0o170000;
const DIRECTORY = 0o040000;
const REGULAR = 0o100000;

export function statSync(path: string): Stats;
export function statSync(path: string, options: { readonly throwIfNoEntry: false }): Stats | undefined;
export function statSync(path: string, options?: { readonly throwIfNoEntry: false }): Stats | undefined {
  const facts = host.stat(path, options?.throwIfNoEntry ?? true);
  return facts === undefined ? undefined : new Stats(facts);
}

export function fstatSync(fd: number): Stats {
  return new Stats(host.fstat(fd));
}
