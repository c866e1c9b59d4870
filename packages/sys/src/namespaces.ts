/**
 * Namespaces of mounts and of processes as handles, and functions that run inside of them. Source: namespaces(7),
 * mount_namespaces(7), pid_namespaces(7), setns(2).
 */
import { native } from './addon.ts';
import { MS, O } from './constants.ts';
import { Fd } from './fd.ts';
import { SysError } from './sys-error.ts';

/** An open mount namespace: a node's own view of files. While the handle is open, the namespace exists. */
export class MountsHandle extends Fd {
  /** Keeps handles of other things from being taken for one. */
  declare readonly kind: 'mounts';
}

/** An open process namespace. It lives as long as the first process in it. */
export class PidsHandle extends Fd {
  /** Keeps handles of other things from being taken for one. */
  declare readonly kind: 'pids';
}

/** Opens the mount namespace behind a path. @example using mounts = openMounts('/proc/1234/ns/mnt'); */
export function openMounts(path: string): MountsHandle {
  return new MountsHandle(native().open(path, O.RDONLY, 0));
}

/** Opens the mount namespace of the calling thread. */
export function currentMounts(): MountsHandle {
  return openMounts('/proc/thread-self/ns/mnt');
}

/** Opens the process namespace behind a path. @example using pids = openPids('/proc/1234/ns/pid'); */
export function openPids(path: string): PidsHandle {
  return new PidsHandle(native().open(path, O.RDONLY, 0));
}

/**
 * Makes a mount namespace, as the caller's own is now. What is mounted in either from then on, the other does not see.
 *
 * From the first call of this or {@link runInMounts} on, the calling thread has a working directory of its own: what
 * `process.chdir` changes, libuv's pool does not follow.
 *
 * @param prepare runs inside of it, to mount what makes it different
 * @throws SysError EPERM without CAP_SYS_ADMIN
 * @example using mounts = createMounts(() => mountTmpfs('/run'));
 */
export function createMounts(prepare: () => void): MountsHandle {
  return run(undefined, CLONE.NEWNS, () => {
    native().mount('none', '/', MS.PRIVATE | MS.REC);
    prepare();
    return currentMounts();
  });
}

/**
 * Calls a function with the calling thread inside the mount namespace, at its root, and is back when it returns or
 * throws. A child process that is started inside is born there. The process aborts when it cannot switch back.
 *
 * Only what is done synchronously is done inside.
 *
 * @throws SysError EINVAL when the function returns a promise.
 */
export function runInMounts<T>(mounts: MountsHandle, inside: () => T): T {
  return run(mounts, CLONE.NEWNS, inside);
}

/**
 * Calls a function; processes that it starts are born in the process namespace. The caller stays where it is.
 *
 * @throws SysError EINVAL when the function returns a promise; ENOMEM when the namespace's first process has ended.
 */
export function runInPids<T>(pids: PidsHandle, inside: () => T): T {
  return run(pids, CLONE.NEWPID, inside);
}

/**
 * The same with a new process namespace. The first process that is started becomes its process 1: when it ends, in
 * whatever way, the kernel kills all others.
 */
export function runInNewPids<T>(inside: () => T): T {
  return run(undefined, CLONE.NEWPID, inside);
}

/**
 * Collects a child that has ended, which process 1 of a namespace has to do for those that others have left behind.
 *
 * @param process not one that Node.js has started: it collects those itself
 * @returns whether it had ended
 * @throws SysError ECHILD when it is no child of this process
 */
export function reap(process: number): boolean {
  return native().reap(process) === process;
}

/** linux/sched.h */
const CLONE = { NEWNS: 0x00020000, NEWPID: 0x20000000 } as const;
const EINVAL = 22;

function run<T>(handle: Fd | undefined, kind: number, inside: () => T): T {
  const result = native().runInNamespace(handle?.number ?? -1, kind, inside);
  if (typeof (result as { then?: unknown } | null | undefined)?.then !== 'function') return result;
  throw new SysError({
    ...{ syscall: 'setns', errnum: EINVAL },
    message: 'run in namespace: the function returned a promise, which would go on outside',
  });
}
