/** What the program's C half (`native/`) offers to the modules of this folder. */
export interface Host {
  /** As `process.arch` has it. */
  readonly arch: string;
  /** argv of the process. */
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Makes what a failed call throws. */
  makeError: (errnum: number, syscall: string, path?: string) => Error;
  /** Serves the process's call. */
  main: () => Promise<never>;
  /**
   * Serves timers that are due. The result is how many milliseconds to wait for the next one, -1 without one, or -2
   * when nothing is left to wait for.
   */
  serveTimers?: () => number;
  /** Whether something else than a timer is under way. */
  isHeld(): boolean;
  /** Runs what promises have waiting. */
  runJobs(): void;
  /** The functions of the addon. */
  addon(): never;

  open(path: string, flags: number, mode: number): number;
  access(path: string, mode: number): void;
  unlink(path: string): void;
  rmdir(path: string): void;
  mkdir(path: string, mode: number): void;
  chmod(path: string, mode: number): void;
  rename(from: string, to: string): void;
  link(existing: string, path: string): void;
  readlink(path: string): string;
  realpath(path: string): string;
  /** Names and types (DT_…), in turns. */
  readdir(path: string): readonly (string | number)[];
  /** What {@link Stats} is made of; undefined when nothing is there, and that shall be no error. */
  stat(path: string, throwIfNoEntry: boolean): readonly number[] | undefined;
  fstat(fd: number): readonly number[];
  close(fd: number): void;
  fsync(fd: number): void;
  ftruncate(fd: number, size: number): void;
  /** A position of -1: where the file stands. */
  read(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  write(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number;

  /** UTF-8, with replacements for what is none. */
  decode(bytes: Uint8Array): string;
  encode(text: string): Uint8Array;
  fillRandom(bytes: Uint8Array): Uint8Array;
  /** Milliseconds of a clock that nobody sets. */
  now(): number;

  isTerminal(fd: number): boolean;
  exit(code: number): never;
  pid(): number;
  uid(): number;
  kill(pid: number, signal: number): void;
  /** Becomes readable when the signal is sent, which does nothing else any more. */
  signalFd(signal: number): number;
  signalName(signal: number): string;
  pipe(): readonly [reading: number, writing: number];
  memoryFile(): number;
  /** Has calls return at once. */
  unblock(fd: number): void;
  /** Starts a program. The environment may be the process's own; the descriptors become 0, 1 and 2. */
  spawn(
    program: string,
    words: readonly string[],
    environment: readonly string[] | undefined,
    descriptors: readonly number[],
    detached: boolean,
  ): number;
  /** Becomes readable when the process has ended. */
  pidFd(pid: number): number;
  /** Waits for a process's end: its status. */
  wait(pid: number): number;
}

declare global {
  var host: Host;
}
