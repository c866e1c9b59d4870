/**
 * Network namespaces as handles: an open descriptor and the identity behind it. Two paths, or a path and a
 * descriptor, name the same namespace exactly when device and inode are equal.
 * Source: namespaces(7), ioctl_ns(2), setns(2).
 */
import { native } from './addon.ts';
import { MNT, MS, O } from './constants.ts';
import { Fd } from './fd.ts';
import { openFile } from './file.ts';
import { flock } from './lock.ts';
import { SysError } from './sys-error.ts';

/** An open network namespace. While the handle is open, the namespace exists. */
export class NetnsHandle extends Fd {
  /** Device of the namespace's file. */
  readonly dev: bigint;
  /** Inode of the namespace's file; the number in `net:[4026531840]`. */
  readonly ino: bigint;

  /** Takes over a descriptor of a network namespace. */
  constructor(number: number) {
    super(number);
    const [dev, ino] = native().identity(number);
    this.dev = dev;
    this.ino = ino;
  }

  /** Equal for two handles of the same namespace. Valid as long as the namespace exists. */
  get key(): string {
    return `${this.dev}:${this.ino}`;
  }

  /** Whether the other handle is of the same namespace. */
  sameAs(other: NetnsHandle): boolean {
    return this.dev === other.dev && this.ino === other.ino;
  }
}

/**
 * What tells an open file from all others, namespaces included: device and inode as a text, as {@link NetnsHandle.key}.
 */
export function identityOf(fd: Fd): string {
  const [dev, ino] = native().identity(fd.number);
  return `${dev}:${ino}`;
}

/**
 * Opens the namespace behind a path, such as `/run/netns/blue` or `/proc/1234/ns/net`.
 *
 * @throws SysError ENOENT when there is nothing; EINVAL when what is there is no network namespace: another kind
 *   of file system (the usual sign of a namespace that was unmounted), or another kind of namespace.
 * @example using netns = openNetns('/run/netns/blue');
 */
export function openNetns(path: string): NetnsHandle {
  const magic = native().statfs(path);
  if (magic !== PROC_SUPER_MAGIC && magic !== NSFS_MAGIC) {
    throw refusal(path, `unknown FS magic on "${path}": ${magic.toString(16)}`);
  }
  const fd = native().open(path, O.RDONLY, 0);
  try {
    if (!isNetns(fd)) throw refusal(path, `open network namespace ${path}: not a network namespace`);
    return new NetnsHandle(fd);
  } catch (error) {
    native().close(fd);
    throw error;
  }
}

/** Opens the namespace of the calling thread. */
export function currentNetns(): NetnsHandle {
  return openNetns('/proc/thread-self/ns/net');
}

/**
 * Makes a new namespace, which lives as long as the handle, a bind mount or a process in it.
 * Its loopback link is down, as the kernel makes it.
 */
export function createNetns(): NetnsHandle {
  return new NetnsHandle(native().createNetns());
}

/**
 * Gives a namespace a path, as `ip netns` does.
 *
 * @throws SysError EEXIST when the path exists. On any failure nothing is left.
 */
export function bindNetns(handle: NetnsHandle, path: string): void {
  const source = `/proc/self/fd/${handle.number}`;
  native().close(native().open(path, O.RDONLY | O.CREAT | O.EXCL, 0o444));
  try {
    native().mount(source, path, MS.BIND);
  } catch (error) {
    native().unlink(path);
    throw error;
  }
}

/** Takes the path away again; a path that is no mount point, or not there, is fine. */
export function unbindNetns(path: string): void {
  unless(['EINVAL', 'ENOENT'], () => native().umount(path, MNT.DETACH));
  unless(['ENOENT'], () => native().unlink(path));
}

/**
 * Prepares a directory for namespaces' paths, as `ip netns` prepares `/run/netns`: it is made, and becomes a shared
 * mount, so that a path unmounted here is unmounted in every mount namespace.
 */
export function shareMount(directory: string): void {
  unless(['EEXIST'], () => native().mkdir(directory, 0o755));
  using lock = openFile(directory, O.RDONLY | O.DIRECTORY);
  flock(lock, 'exclusive');
  const share = () => native().mount('', directory, MS.SHARED | MS.REC);
  // EINVAL: not a mount point yet.
  if (unless(['EINVAL'], share)) return;
  native().mount(directory, directory, MS.BIND | MS.REC);
  share();
}

/**
 * Calls a function with the calling thread inside the namespace, and is back when it returns or throws. A child
 * process that is started inside is born there. The process aborts when it cannot switch back.
 *
 * Nothing asynchronous may begin inside: a thread that the program starts there would stay there. This package
 * refuses it (EBUSY); for the rest of the program the caller answers.
 *
 * @throws SysError EINVAL when the function returns a promise.
 * @example runInNetns(netns, () => spawn('sleep', ['60']));
 */
export function runInNetns<T>(handle: NetnsHandle, run: () => T): T {
  const result = native().runInNetns(handle.number, run);
  if (typeof (result as { then?: unknown } | null | undefined)?.then !== 'function') return result;
  throw new SysError({
    ...{ syscall: 'setns', errnum: EINVAL },
    message: 'run in network namespace: the function returned a promise, which would go on outside',
  });
}

const EINVAL = 22;
const CLONE_NEWNET = 0x40000000;
/** linux/magic.h */
const PROC_SUPER_MAGIC = 0x9fa0;
const NSFS_MAGIC = 0x6e736673;

function isNetns(fd: number): boolean {
  try {
    return native().namespaceType(fd) === CLONE_NEWNET;
  } catch (error) {
    if (SysError.is(error, 'ENOTTY', 'EINVAL')) return false;
    throw error;
  }
}

function refusal(path: string, message: string): SysError {
  return new SysError({ syscall: 'open', errnum: EINVAL, path, message });
}

/** Whether it succeeded; false for the failures that are fine. */
function unless(fine: readonly string[], run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (SysError.is(error, ...fine)) return false;
    throw error;
  }
}
