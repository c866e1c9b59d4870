/** The native program that follows others from system call to system call, `native/main.c`, and what it reports. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KitError } from '../failure.ts';

/** A system call that changes something which outlives its process. */
export interface CrashPoint {
  /** Which of all such calls it was, from 1. */
  readonly number: number;
  readonly pid: number;
  /** The name of the process. */
  readonly process: string;
  /** Its name, such as `renameat2`. */
  readonly call: string;
  /** What it is about: a path, the kinds of netlink messages; may be empty. */
  readonly about: string;
}

/** What the tracer has seen. */
export interface CrashReport {
  /** The calls that were begun, in order; when killed before one, that one is the last. */
  readonly points: readonly CrashPoint[];
  /** Whether there were as many calls as it was to wait for. */
  readonly reached: boolean;
}

/** When something happens to a program. */
export interface CrashPlan {
  /** At which call, from 1; 0 for never. */
  readonly point: number;
  /** Before the call is begun, or once it is done. */
  readonly when: 'before' | 'after';
  /** It is stopped in place of killed. */
  readonly hold?: boolean;
}

/** Arguments of the tracer. */
export function tracerArguments({ point, when, hold = false }: CrashPlan): readonly string[] {
  if (point === 0) return [];
  return [hold ? '--hold' : '--kill', String(point), ...(when === 'after' ? ['--after'] : [])];
}

/** Reads a report. */
export function parseReport(text: string): CrashReport {
  // The last one may still be in the making.
  const lines = text.split('\n').slice(0, -1);
  const points = lines.flatMap((line) => {
    const [number, pid, process, call, about] = /^call (.*)$/.exec(line)?.[1]?.split('\t') ?? [];
    if (call === undefined) return [];
    return [{ number: Number(number), pid: Number(pid), process: process ?? '', call, about: about ?? '' }];
  });
  return { points, reached: lines.some((line) => /^(killed|held) /.test(line)) };
}

/** A call in words, such as `call 3, unlinkat /run/x (host-local)`. */
export function pointText({ number, process, call, about }: CrashPoint): string {
  return `call ${number}, ${call}${about === '' ? '' : ` ${about}`} (${process})`;
}

/**
 * The tracer's file: in its package; a bundle of the command lies elsewhere in the repository.
 *
 * @throws {KitError} when it was not built
 */
export function tracerProgram(): string {
  const [own, fromBundle] = ['../..', '../../../packages/conformance'].map((root) =>
    fileURLToPath(new URL(`${root}/build/heddle-crash`, import.meta.url)),
  ) as [string, string];
  const found = [own, fromBundle].find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new KitError(`the tracer is not built: there is no ${own}`, { hint: 'make build' });
}
