/** Mounts of one's own: directories that look like the machine's, and are gone with the process — mount(2). */
import { native } from './addon.ts';
import { MNT, MS } from './constants.ts';

/** What a {@link mountTmpfs} may be. */
export interface TmpfsOptions {
  /** The most bytes that fit; the kernel rounds up to whole pages. Half of the memory when left out. */
  readonly size?: number;
  /** Permissions of the directory; 0o755 when left out. */
  readonly mode?: number;
}

/**
 * Gives the calling thread, and every process that it starts, mounts of their own: what they mount or unmount from now
 * on nobody else sees, and it is gone when the last of them ends. Threads that run already stay where they are; those
 * of libuv's pool are among them once anything asynchronous has been done with files, so use files synchronously from
 * here on.
 *
 * @throws SysError EPERM without CAP_SYS_ADMIN
 */
export function enterPrivateMounts(): void {
  native().unshareMounts();
  native().mount('none', '/', MS.PRIVATE | MS.REC);
}

/**
 * Mounts an empty file system in memory over a directory.
 *
 * @example mountTmpfs('/run/lab', { size: 64 * 1024 });
 */
export function mountTmpfs(target: string, { size, mode = 0o755 }: TmpfsOptions = {}): void {
  const options = [`mode=${mode.toString(8)}`, ...(size === undefined ? [] : [`size=${size}`])];
  native().mountNew('tmpfs', target, 0, options.join(','));
}

/**
 * Mounts a directory over itself so that what is there can be read, and what is written goes elsewhere.
 *
 * @param upper gets what is written
 * @param work an empty directory on the same file system as `upper`, for the kernel
 */
export function mountOverlay(target: string, upper: string, work: string): void {
  native().mountNew('overlay', target, 0, `lowerdir=${target},upperdir=${upper},workdir=${work}`);
}

/**
 * Mounts sysfs, read-only. What it shows of the network is that of the calling thread's namespace.
 *
 * @example runInNetns(netns, () => mountSysfs('/sys'));
 */
export function mountSysfs(target: string): void {
  native().mountNew('sysfs', target, MS.RDONLY, '');
}

/** Mounts proc. It shows the processes of the calling thread's process namespace. */
export function mountProc(target: string): void {
  native().mountNew('proc', target, 0, '');
}

/** Makes a directory, or a file, appear at another path too. */
export function bindPath(source: string, target: string): void {
  native().mount(source, target, MS.BIND);
}

/** Makes a mount read-only, or writable again. */
export function setReadOnly(target: string, readOnly: boolean): void {
  native().mount('none', target, MS.BIND | MS.REMOUNT | (readOnly ? MS.RDONLY : 0));
}

/** Takes the topmost mount at a path away. @throws SysError EINVAL when there is none */
export function unmount(target: string): void {
  native().umount(target, MNT.DETACH);
}
