/** The functions of `node:fs` that are one system call. */

/** Source: fcntl.h, unistd.h; the same on x64 and arm64. */
export const constants = {
  F_OK: 0,
  X_OK: 1,
  W_OK: 2,
  R_OK: 4,
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_RDWR: 2,
  O_CREAT: 0o100,
  O_EXCL: 0o200,
  O_TRUNC: 0o1000,
  O_APPEND: 0o2000,
  O_NONBLOCK: 0o4000,
};

const FLAGS: Readonly<Record<string, number>> = {
  r: constants.O_RDONLY,
  'r+': constants.O_RDWR,
  w: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
  wx: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_EXCL,
  a: constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
};

export function openSync(path: string, flags: string | number = 'r', mode = 0o666): number {
  const bits = typeof flags === 'number' ? flags : FLAGS[flags];
  if (bits === undefined) throw new TypeError(`openSync: flags "${flags}"`);
  return host.open(path, bits, mode);
}

export function closeSync(fd: number): void {
  host.close(fd);
}

export function fsyncSync(fd: number): void {
  host.fsync(fd);
}

export function ftruncateSync(fd: number, size = 0): void {
  host.ftruncate(fd, size);
}

export function readSync(
  fd: number,
  bytes: Uint8Array,
  offset = 0,
  length = bytes.length - offset,
  position: number | null = null,
): number {
  return host.read(fd, bytes, offset, length, position ?? -1);
}

export function writeSync(fd: number, text: string, position?: number): number;
export function writeSync(
  fd: number,
  bytes: Uint8Array,
  offset?: number,
  length?: number,
  position?: number | null,
): number;
export function writeSync(
  fd: number,
  data: string | Uint8Array,
  offset?: number,
  length?: number,
  position: number | null = null,
): number {
  if (typeof data === 'string') {
    const bytes = host.encode(data);
    return host.write(fd, bytes, 0, bytes.length, offset ?? -1);
  }
  const start = offset ?? 0;
  return host.write(fd, data, start, length ?? data.length - start, position ?? -1);
}

export function accessSync(path: string, mode = constants.F_OK): void {
  host.access(path, mode);
}

export function existsSync(path: string): boolean {
  try {
    host.access(path, constants.F_OK);
    return true;
  } catch {
    return false;
  }
}

export function renameSync(from: string, to: string): void {
  host.rename(from, to);
}

export function linkSync(existing: string, path: string): void {
  host.link(existing, path);
}

export function unlinkSync(path: string): void {
  host.unlink(path);
}

export function rmdirSync(path: string): void {
  host.rmdir(path);
}

export function chmodSync(path: string, mode: number): void {
  host.chmod(path, mode);
}

export function readlinkSync(path: string): string {
  return host.readlink(path);
}

export function realpathSync(path: string): string {
  return host.realpath(path);
}
