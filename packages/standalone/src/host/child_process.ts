/** `node:child_process`, as much of it as the program uses. */
import { Fd, watch } from '@heddle/sys';
import { Emitter } from './emitter.ts';
import { Pipe } from './pipe.ts';
import { setTimer } from './timers.ts';

interface SpawnOptions {
  /** The whole environment; the process's own when left out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether it leads a session, and so a process group, of its own. */
  readonly detached?: boolean;
  readonly stdio: 'pipe' | readonly number[];
}

/** Emits `error` when it could not be started; `exit`, and `close` when its output has ended too. */
export class ChildProcess extends Emitter {
  pid: number | undefined;
  readonly stdin = new Pipe();
  readonly stdout = new Pipe();
  readonly stderr = new Pipe();
}

export function spawn(program: string, words: readonly string[], options: SpawnOptions): ChildProcess {
  const child = new ChildProcess();
  const { stdio, env, detached = false } = options;
  const pipes = stdio === 'pipe' ? [0, 1, 2].map(() => host.pipe()) : [];
  const [input, output, errors] = pipes;
  const theirs = stdio === 'pipe' ? [input?.[0], output?.[1], errors?.[1]].map((fd) => fd ?? -1) : stdio;
  const open = [input?.[1], output?.[0], errors?.[0]];
  try {
    child.pid = host.spawn(program, [program, ...words], env && environment(env), theirs, detached);
  } catch (error) {
    for (const fd of open) if (fd !== undefined) host.close(fd);
    setTimer(() => child.emit('error', error));
    return child;
  } finally {
    for (const fd of stdio === 'pipe' ? theirs : []) host.close(fd);
  }
  const [toInput, fromOutput, fromErrors] = open;
  if (toInput !== undefined) {
    host.unblock(toInput);
    child.stdin.writeTo(new Fd(toInput));
  }
  const ends = [
    ...(fromOutput === undefined ? [] : [child.stdout.readFrom(new Fd(fromOutput))]),
    ...(fromErrors === undefined ? [] : [child.stderr.readFrom(new Fd(fromErrors))]),
  ];
  void follow(child, child.pid, ends);
  return child;
}

async function follow(child: ChildProcess, pid: number, ends: readonly Promise<void>[]): Promise<void> {
  const [exitCode, signal] = await ended(pid);
  child.emit('exit', exitCode, signal);
  await Promise.all(ends);
  child.emit('close', exitCode, signal);
}

function ended(pid: number): Promise<readonly [exitCode: number | null, signal: string | null]> {
  const fd = new Fd(host.pidFd(pid));
  return new Promise((resolve) => {
    watch(fd, () => {
      fd.close();
      resolve(end(host.wait(pid)));
    });
  });
}

/** Runs a program to its end. */
export function spawnSync(
  program: string,
  words: readonly string[],
  { input = '' }: { readonly input?: string; readonly encoding?: 'utf8' } = {},
): {
  readonly error?: Error;
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const files = [0, 1, 2].map(() => host.memoryFile());
  const [stdin = -1, stdout = -1, stderr = -1] = files;
  try {
    const bytes = host.encode(input);
    host.write(stdin, bytes, 0, bytes.length, 0);
    const pid = host.spawn(program, [program, ...words], undefined, files, false);
    const [status, signal] = end(host.wait(pid));
    return { status, signal, stdout: contents(stdout), stderr: contents(stderr) };
  } catch (error) {
    return { error: error as Error, status: null, signal: null, stdout: '', stderr: '' };
  } finally {
    for (const fd of files) host.close(fd);
  }
}

function contents(fd: number): string {
  const [, , , , size = 0] = host.fstat(fd);
  const bytes = new Uint8Array(size);
  return host.decode(bytes.subarray(0, size === 0 ? 0 : host.read(fd, bytes, 0, size, 0)));
}

/** Source: wait(2), for a status that is of an end. */
function end(status: number): readonly [exitCode: number | null, signal: string | null] {
  const signal = status & 0x7f;
  return signal === 0 ? [(status >> 8) & 0xff, null] : [null, host.signalName(signal)];
}

function environment(variables: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
}
