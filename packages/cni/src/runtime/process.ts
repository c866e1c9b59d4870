/**
 * Running one short-lived program to its end, with given bytes on stdin.
 *
 * stdin, stdout and stderr are nameless files in memory. Node.js gives children sockets, not pipes, and a
 * shell plugin that says `cat /dev/stdin` or `echo … >/dev/stderr` fails on a socket. With files a child that
 * a plugin leaves behind, and that keeps stdout open, does not hold up its caller either.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { O } from '@heddle/sys';

/** A program to run. */
export interface ProcessRequest {
  readonly path: string;
  /** Its arguments; plugins have none. */
  readonly args?: readonly string[];
  /** The whole environment; nothing is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | Uint8Array;
  /** On abort the program is killed, and all that is in its process group. */
  readonly signal?: AbortSignal | undefined;
}

/** How a program ended, and what it printed. */
export interface ProcessEnd {
  /** The exit code; `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program, without a shell and in a process group of its own.
 *
 * @throws the system's error (with `code`, such as ENOENT or ETXTBSY) when it cannot be started.
 */
export async function runProcess({
  path,
  args = [],
  env,
  stdin,
  signal,
}: ProcessRequest): Promise<ProcessEnd> {
  using input = scratchFile();
  using stdout = scratchFile();
  using stderr = scratchFile();
  input.fill(stdin);
  const child = spawn(path, args, { env, detached: true, stdio: [input.fd, stdout.fd, stderr.fd] });
  const killGroup = (): void => kill(child);
  signal?.addEventListener('abort', killGroup, { once: true });
  try {
    const end = await ended(child);
    return { ...end, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    signal?.removeEventListener('abort', killGroup);
  }
}

/** The most that is read of either output. */
const MAX_OUTPUT = 16 * 1024 * 1024;

function ended(child: ChildProcess): Promise<Pick<ProcessEnd, 'exitCode' | 'signal'>> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

interface ScratchFile extends Disposable {
  readonly fd: number;
  fill(content: string | Uint8Array): void;
  text(): string;
}

/** A file without a name, for reading and appending; it is gone when the last one has closed it. */
function scratchFile(): ScratchFile {
  const fd = openNameless();
  return {
    fd,
    // Appending does not move the place from which the child will read.
    fill(content) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, 0);
    },
    text() {
      const bytes = Buffer.alloc(Math.min(fstatSync(fd).size, MAX_OUTPUT));
      let at = 0;
      while (at < bytes.length) {
        const count = readSync(fd, bytes, at, bytes.length - at, at);
        if (count === 0) break;
        at += count;
      }
      return bytes.toString('utf8', 0, at);
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

function openNameless(): number {
  const flags = O.TMPFILE | O.RDWR | O.APPEND;
  try {
    return openSync('/dev/shm', flags, 0o600);
  } catch {
    return openSync('/tmp', flags, 0o600);
  }
}
