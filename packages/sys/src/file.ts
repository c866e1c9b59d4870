/** Files: by descriptor, and by path as seen from a network namespace (`/proc/sys/net` shows the reader's own). */
import { native } from './addon.ts';
import { Fd } from './fd.ts';
import type { NetnsHandle } from './netns.ts';
import { SysError } from './sys-error.ts';

/**
 * open(2), always with O_CLOEXEC.
 *
 * @example using lock = openFile('/run/x.lock', O.RDWR | O.CREAT, 0o600);
 */
export function openFile(path: string, flags: number, mode = 0): Fd {
  return new Fd(native().open(path, flags, mode));
}

/** Reads at most `max` bytes: none at the end of the file; undefined when a non-blocking descriptor has none yet. */
export function read(fd: Fd, max: number): Uint8Array | undefined {
  return native().read(fd.number, max);
}

/** Writes and says how many bytes were taken, which may be fewer than given. */
export function write(fd: Fd, bytes: Uint8Array): number {
  return native().write(fd.number, bytes);
}

/** How many names a file has; 0 when it was removed while it is open. */
export function linkCount(fd: Fd): number {
  return native().linkCount(fd.number);
}

/** Takes a file's name away; one that is not there is fine. */
export function unlink(path: string): void {
  try {
    native().unlink(path);
  } catch (error) {
    if (!SysError.is(error, 'ENOENT')) throw error;
  }
}

/** Waits until the file's content is on the disk. */
export function fsync(fd: Fd): void {
  native().fsync(fd.number);
}

/**
 * Gives a file that has no name (O.TMPFILE) one, in a single step: readers see nothing or all of it.
 *
 * @throws SysError EEXIST when the name is taken.
 */
export function linkFd(fd: Fd, path: string): void {
  native().link(`/proc/self/fd/${fd.number}`, path);
}

/** The magic number of the file system that a path is on (linux/magic.h). */
export function statfsMagic(path: string): number {
  return native().statfs(path);
}

/**
 * Reads a text file as a thread inside the namespace (own one: undefined) sees it.
 *
 * @example readFileIn(netns, '/proc/sys/net/ipv4/ip_forward') // '0\n'
 */
export function readFileIn(netns: NetnsHandle | undefined, path: string): string {
  return native().readFile(netns?.number ?? OWN, path);
}

/**
 * Replaces the content of an existing file, inside the namespace, with one write(2), as sysctls want it.
 *
 * @throws SysError with the kernel's refusal, such as EINVAL for a value that a sysctl does not take.
 */
export function writeFileIn(netns: NetnsHandle | undefined, path: string, text: string): void {
  native().writeFile(netns?.number ?? OWN, path, new TextEncoder().encode(text));
}

/**
 * {@link writeFileIn} for several files, in their order, in one visit to the namespace. One that is refused does not
 * keep the others from being written.
 *
 * @returns for each file, its refusal
 * @throws SysError when the namespace cannot be entered
 */
export function writeFilesIn(
  netns: NetnsHandle | undefined,
  files: readonly { readonly path: string; readonly text: string }[],
): readonly (SysError | undefined)[] {
  if (files.some(({ path, text }) => `${path}${text}`.includes('\0'))) {
    throw new SysError({ syscall: 'write', errnum: EINVAL, message: 'write files: NUL in a path or text' });
  }
  const written = files.map(({ path, text }) => `${path}\0${text}\0`).join('');
  const errnums = native().writeFiles(netns?.number ?? OWN, new TextEncoder().encode(written));
  return files.map(({ path }, index) => {
    const errnum = errnums[index] ?? 0;
    return errnum === 0 ? undefined : new SysError({ syscall: 'write', errnum, path });
  });
}

const EINVAL = 22;

/** Stands for the caller's own namespace in the addon. */
const OWN = -1;
