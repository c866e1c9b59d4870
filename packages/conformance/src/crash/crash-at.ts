/** Programs that are killed, or held, at a chosen system call. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessEnd, runProcess } from '@heddle/cni/runtime';
import { type NetnsHandle, runInNetns } from '@heddle/sys';
import { type CrashPlan, type CrashReport, parseReport, tracerArguments, tracerProgram } from './tracer.ts';

/** A program to run. */
export interface CrashRequest {
  readonly program: string;
  readonly args?: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** The network namespace that it is born in; by default that of this process. */
  readonly netns?: NetnsHandle;
  /** On abort the program is killed. */
  readonly signal?: AbortSignal;
}

/** How a program ended, and what it had changed until then. */
export type CrashEnd = ProcessEnd & CrashReport;

/**
 * Runs a program, and kills it with SIGKILL, and all that it has started, at its n-th system call that changes something
 * which outlives it: a request to the kernel on a netlink socket, a file made, written, renamed, removed or locked, a mount,
 * a namespace entered. What only asks does not count.
 *
 * @param request.point from 1; with 0 it is left alone, and all calls are told
 * @param request.when before the call is begun (the default), or once it is done
 * @returns `reached` is false, and the program has ended by itself, when it makes fewer calls
 * @throws {KitError} when the tracer was not built
 * @example
 * const { points } = await crashAt({ program: '/opt/cni/bin/bridge', env, stdin, point: 0 });
 * for (const { number } of points) await crashAt({ program: '/opt/cni/bin/bridge', env, stdin, point: number });
 */
export async function crashAt(
  request: CrashRequest & { readonly point: number; readonly when?: 'before' | 'after' },
): Promise<CrashEnd> {
  const { point, when = 'before' } = request;
  return await start(request, { point, when }).ended;
}

/** A program that stands still in the middle of its work. */
export interface HeldProgram extends AsyncDisposable {
  /** The calls so far. */
  readonly report: CrashReport;
  /** Lets it go on, and waits for its end. */
  resume(): Promise<CrashEnd>;
  /** Kills it, and waits for its end; also done when it is disposed of. */
  kill(): Promise<CrashEnd>;
}

/**
 * Runs a program up to its n-th call that changes something, where it stops, with all that it has started: for looking at what
 * there is then, and for what others do meanwhile.
 *
 * @returns once it stands still, or has ended because it makes fewer calls (`report.reached` says which)
 */
export async function holdAt(
  request: CrashRequest & { readonly point: number; readonly when?: 'before' | 'after' },
): Promise<HeldProgram> {
  const { point, when = 'before' } = request;
  const { ended, report, tracer } = start(request, { point, when, hold: true });
  let end: CrashEnd | undefined;
  const settled = ended.then((each) => {
    end = each;
  });
  // The end may be an error, too.
  while (end === undefined && !report().reached) await Promise.race([sleep(2), settled]);
  const signal = (name: NodeJS.Signals): Promise<CrashEnd> => {
    if (end === undefined) process.kill(tracer(), name);
    return ended;
  };
  return {
    report: end ?? report(),
    resume: () => signal('SIGUSR1'),
    kill: () => signal('SIGTERM'),
    [Symbol.asyncDispose]: async () => void (await signal('SIGTERM')),
  };
}

interface Started {
  readonly ended: Promise<CrashEnd>;
  /** What there is of it so far. */
  readonly report: () => CrashReport;
  /** The process that traces. */
  readonly tracer: () => number;
}

function start(
  { program, args = [], env, stdin = '', netns, signal }: CrashRequest,
  plan: CrashPlan,
): Started {
  const path = tracerProgram();
  const directory = mkdtempSync(join(tmpdir(), 'heddle-crash-'));
  const file = join(directory, 'report');
  const run = () =>
    runProcess({
      ...{ path, env, stdin, signal },
      args: [...tracerArguments(plan), '--report', file, '--', program, ...args],
    });
  const ended = netns === undefined ? run() : bornIn(netns, run);
  const text = () => readFileSync(file, { encoding: 'utf8', flag: 'a+' });
  return {
    ended: ended
      .then((end) => ({ ...end, ...parseReport(text()) }))
      .finally(() => rmSync(directory, { recursive: true, force: true })),
    report: () => parseReport(text()),
    tracer: () => Number(/^tracer (\d+)$/m.exec(text())?.[1]),
  };
}

function bornIn(netns: NetnsHandle, run: () => Promise<ProcessEnd>): Promise<ProcessEnd> {
  let started: Promise<ProcessEnd> | undefined;
  runInNetns(netns, () => {
    started = run();
  });
  return started ?? Promise.reject(new Error('nothing was started'));
}
