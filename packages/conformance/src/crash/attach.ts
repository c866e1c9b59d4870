/** Daemons that are killed at a chosen system call. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { KitError } from '../failure.ts';
import { type CrashReport, parseReport, tracerArguments, tracerProgram } from './tracer.ts';

/**
 * Follows a process that runs already, such as a daemon, and what it starts from now on; kills it at its n-th call that
 * changes something. Calls are counted from when this returns.
 *
 * @example
 * await using tracer = await attachCrash({ pid: agent.pid, point: 7 });
 * await callOfSomebodyWhomTheAgentServes();
 * if (tracer.report.reached) startTheAgentAnew();
 */
export async function attachCrash(request: {
  readonly pid: number;
  /** From 1; with 0 it is left alone, and its calls are told. */
  readonly point: number;
  readonly when?: 'before' | 'after';
}): Promise<AttachedTracer> {
  const { pid, point, when = 'before' } = request;
  const args = [...tracerArguments({ point, when }), '--attach', String(pid)];
  const tracer = new AttachedTracer(
    spawn(tracerProgram(), args, { stdio: ['ignore', 'ignore', 'pipe'], env: {} }),
  );
  await tracer.attached();
  return tracer;
}

/** A process that is followed. */
export class AttachedTracer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #text = '';

  /** @param child the tracer, with its report on stderr; see {@link attachCrash} */
  constructor(child: ChildProcess) {
    this.#child = child;
    this.#closed = once(child, 'close');
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => (this.#text += piece));
  }

  /** Waits until every thread of the process is followed. @throws {KitError} when it cannot be */
  async attached(): Promise<void> {
    while (!/^attached$/m.test(this.#text)) {
      if (this.#child.exitCode !== null)
        throw new KitError(`a process cannot be followed: ${this.#text.trim()}`);
      await Promise.race([once(this.#child.stderr ?? this.#child, 'data'), this.#closed]);
    }
  }

  /** What it has done since; complete after {@link release}. */
  get report(): CrashReport {
    return parseReport(this.#text);
  }

  /** Lets go of the process, which goes on as if nothing had been, unless it was killed. */
  async release(): Promise<CrashReport> {
    this.#child.kill('SIGTERM');
    await this.#closed;
    return this.report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}
