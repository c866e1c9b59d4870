/**
 * Plugins as executables: found in directories, started, and their failures turned into errors with the
 * reference's texts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { findPlugin } from './find.ts';
import type { PluginExec, PluginOutput, PluginRun } from './plugin-exec.ts';
import { failedPlugin, unstartedPlugin } from './plugin-failure.ts';
import { runProcess } from './process.ts';

/** How {@link systemExec} behaves. */
export interface SystemExecOptions {
  /** Told what a look-up passed over: a broken link, a file that is not executable. */
  readonly onWarning?: (message: string) => void;
  /** Milliseconds to wait before an executable that is being written is tried again. Default 1000. */
  readonly busyDelay?: number;
}

/** Runs plugins as programs of this machine. */
export function systemExec({ onWarning, busyDelay = BUSY_DELAY }: SystemExecOptions = {}): PluginExec {
  return {
    find(type, path) {
      const { path: found, obstacles } = findPlugin(type, path);
      for (const obstacle of obstacles) onWarning?.(`plugin "${type}": using ${found}, although ${obstacle}`);
      return found;
    },
    run: (run) => execPlugin(run, busyDelay),
  };
}

/**
 * Runs a plugin's executable, without a shell, and gives what it printed. An abort kills it with all that it
 * has started. While the file is being written to (ETXTBSY: an installer at work) it is tried again, six
 * times in all.
 *
 * @throws {PluginError} when it exits with another code than 0, is killed, or cannot be started.
 */
export async function execPlugin(run: PluginRun, busyDelay: number = BUSY_DELAY): Promise<PluginOutput> {
  for (let attempt = 1; ; attempt++) {
    if (run.signal?.aborted) throw unstartedPlugin(run, run.signal.reason);
    try {
      const end = await runProcess(run);
      if (end.exitCode === 0) return { stdout: end.stdout, stderr: end.stderr };
      throw failedPlugin(run, end);
    } catch (error) {
      if (!isBusy(error)) throw isSystemError(error) ? unstartedPlugin(run, error) : error;
      if (attempt === BUSY_ATTEMPTS) throw unstartedPlugin(run, error);
    }
    // An abort ends the wait; the loop then reports it.
    await sleep(busyDelay, undefined, { signal: run.signal }).catch(() => undefined);
  }
}

const BUSY_ATTEMPTS = 6;
const BUSY_DELAY = 1000;

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

function isBusy(error: unknown): boolean {
  return isSystemError(error) && error.code === 'ETXTBSY';
}
