/**
 * The addon as C exports it. Not part of the package's interface: the modules beside this one give its functions
 * their meaning.
 */
import { openAddon } from '#open-addon';
import { SysError } from './sys-error.ts';

/** The functions of `native/*.c`. Descriptors are numbers; a namespace of -1 is the caller's own. */
export interface Addon {
  setErrorFactory(factory: (errnum: number, syscall: string, path?: string) => Error): void;

  open(path: string, flags: number, mode: number): number;
  close(fd: number): void;
  fsync(fd: number): void;
  linkCount(fd: number): number;
  read(fd: number, max: number): Uint8Array | undefined;
  write(fd: number, bytes: Uint8Array): number;
  readFile(netns: number, path: string): string;
  writeFile(netns: number, path: string, bytes: Uint8Array): void;
  /** The files are `path NUL text NUL …`. Gives an errno for each, 0 for none. */
  writeFiles(netns: number, files: Uint8Array): number[];
  link(source: string, target: string): void;
  mkdir(path: string, mode: number): void;
  unlink(path: string): void;
  statfs(path: string): number;
  mount(source: string, target: string, flags: number): void;
  mountNew(type: string, target: string, flags: number, options: string): void;
  unshareMounts(): void;
  umount(target: string, flags: number): void;
  inotifyCreate(): number;
  inotifyAdd(fd: number, path: string, mask: number): number;
  inotifyRemove(fd: number, descriptor: number): void;

  sha512(bytes: Uint8Array): string;

  flock(fd: number, operation: number): boolean;
  flockWait(fd: number, operation: number, done: (error?: SysError) => void): number;
  flockCancel(id: number): void;

  runInNetns<T>(netns: number, run: () => T): T;
  createNetns(): number;
  reap(process: number): number;
  runInNamespace<T>(fd: number, kind: number, run: () => T): T;
  namespaceType(fd: number): number;
  identity(fd: number): readonly [device: bigint, inode: bigint];

  socket(netns: number, family: number, type: number, protocol: number): number;
  bind(fd: number, address: Uint8Array): void;
  connect(fd: number, address: Uint8Array): void;
  listen(fd: number, backlog: number): void;
  accept(fd: number, flags: number): number | undefined;
  send(fd: number, bytes: Uint8Array, flags: number, to: Uint8Array): number;
  recv(fd: number, max: number, flags: number): readonly [bytes: Uint8Array, from: Uint8Array] | undefined;
  sendDescriptors(fd: number, bytes: Uint8Array, descriptors: Uint8Array): number;
  recvDescriptors(
    fd: number,
    max: number,
  ): readonly [bytes: Uint8Array, descriptors: readonly number[]] | undefined;
  setsockopt(fd: number, level: number, name: number, value: Uint8Array): void;
  getsockopt(fd: number, level: number, name: number, room: number): Uint8Array;
  getsockname(fd: number): Uint8Array;
  getpeername(fd: number): Uint8Array;
  ioctl(fd: number, request: number, argument: Uint8Array): Uint8Array;
  ioctlValue(fd: number, request: number, value: number): number;
  attachFilter(fd: number, program: Uint8Array): void;
  ethtool(fd: number, name: string, command: Uint8Array): Uint8Array;

  transactSync(fd: number, request: Uint8Array): Uint8Array[];
  transact(
    fd: number,
    request: Uint8Array,
    done: (error: SysError | undefined, datagrams: Uint8Array[]) => void,
  ): void;

  sendAside(fd: number, request: Uint8Array): number;
  awaitAside(fd: number, process: number): boolean;
  holdAside(fd: number): void;

  watch(fd: number, onReadable: () => void, held: boolean): number;
  unwatch(id: number): void;
}

/** The addon, loaded when it is first needed: codecs and types of this package work without it. */
export const native: () => Addon = once(() => {
  const addon = openAddon();
  addon.setErrorFactory((errnum, syscall, path) => new SysError({ errnum, syscall, path }));
  return addon;
});

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
