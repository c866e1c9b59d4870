/** A command inside a network namespace, with this process standing in for it before whoever started us. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { type NetnsHandle, runInNetns } from '@heddle/sys';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';
import type { Surroundings } from '../surroundings.ts';

/** Passed on to the command. */
export const FORWARDED: readonly NodeJS.Signals[] = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGTERM',
  'SIGUSR1',
  'SIGUSR2',
];
/** What a terminal sends to everybody in its foreground, the command included. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/**
 * Runs a command to its end, on this process's own stdin, stdout and stderr.
 *
 * @returns its exit code; 128 and the signal's number when one ended it
 * @throws {CommandError} with exit code 127 or 126 when it cannot be started
 */
export async function runInside(
  cli: Pick<Surroundings, 'env' | 'signals' | 'isInteractive'>,
  netns: NetnsHandle,
  [program, ...args]: readonly [string, ...string[]],
): Promise<number> {
  const start = () => spawn(program, args, { stdio: 'inherit', env: cli.env });
  return await waitFor(cli, program, async () => runInNetns(netns, start));
}

/** The same for a command that is started elsewhere. */
export async function waitFor(
  { signals, isInteractive }: Pick<Surroundings, 'signals' | 'isInteractive'>,
  program: string,
  start: () => Promise<ChildProcess>,
): Promise<number> {
  const child = await start();
  using _signals = signals.listen(FORWARDED, (signal) => {
    if (!(isInteractive && FROM_TERMINAL.includes(signal))) child.kill(signal);
  });
  return await ended(child, program);
}

/** The exit code by which shells tell of a signal. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function ended(child: ChildProcess, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(unstarted(program, error)));
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 0) : exitCodeOf(signal)));
  });
}

function unstarted(program: string, error: NodeJS.ErrnoException): CommandError {
  const isMissing = error.code === 'ENOENT';
  return new CommandError(
    isMissing ? EXIT.NOT_FOUND : EXIT.NOT_EXECUTABLE,
    isMissing
      ? `run ${program}: there is no such command`
      : `run ${program}: it cannot be executed (${error.code})`,
    { cause: error },
  );
}
