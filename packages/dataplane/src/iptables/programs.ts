/**
 * Running the iptables programs: the one exception from speaking to the kernel directly, for tables of the legacy kind
 * and for rules that only iptables understands.
 *
 * No shell, fixed arguments, the input on stdin. A program is born in the namespace of the session.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { KernelSession } from '@heddle/netlink';
import { runInNetns } from '@heddle/sys';
import { lockRules } from '../rules-lock.ts';

/** How a program ended. */
export interface ProgramResult {
  /** The exit code; -1 when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the iptables backends need of their surroundings. */
export interface IptablesPort {
  /** Runs a program to its end; `undefined` when there is no such program. */
  run(
    argv: readonly [program: string, ...args: string[]],
    stdin?: string,
  ): Promise<ProgramResult | undefined>;
  /** The file that a program's name stands for, with links followed; `undefined` when there is no such program. */
  find(program: string): string | undefined;
  /** Keeps other processes of Heddle from changing iptables rules until disposed of; waits for its turn. */
  lock(): Promise<Disposable>;
}

/** The programs of this machine, in the namespace of `host`. */
export function programsIn(host: KernelSession): IptablesPort {
  return {
    run: ([program, ...args], stdin = '') =>
      new Promise((resolve, reject) => {
        const child = runInNetns(host.handle, () => spawn(program, args, { stdio: 'pipe' }));
        const out: Buffer[] = [];
        const err: Buffer[] = [];
        child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
        child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
        // A program that ends without reading its input is judged by its exit code, not by the broken pipe.
        child.stdin.on('error', () => {});
        child.on('error', (error: NodeJS.ErrnoException) =>
          error.code === 'ENOENT' ? resolve(undefined) : reject(error),
        );
        child.on('close', (code) => resolve({ code: code ?? -1, stdout: text(out), stderr: text(err) }));
        child.stdin.end(stdin);
      }),
    find,
    lock: () => lockRules(host),
  };
}

function find(program: string): string | undefined {
  // biome-ignore lint/style/noProcessEnv: `run` looks nowhere else, for that is where spawn looks
  for (const directory of process.env['PATH']?.split(delimiter) ?? DEFAULT_PATH) {
    const path = join(directory, program);
    try {
      accessSync(path, constants.X_OK);
      return realpathSync(path);
    } catch {
      // Not here, or not for us to run.
    }
  }
  return undefined;
}

/** Where execvp(3) looks when there is no PATH. */
const DEFAULT_PATH = ['/bin', '/usr/bin'];

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString();
}
