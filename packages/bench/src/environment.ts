/** Where a measurement was made: figures of two machines, or of two loads, are not comparable. */
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';

/** The fingerprint of a measurement's surroundings. */
export interface Environment {
  /** When it began: an ISO date. */
  readonly at: string;
  readonly system: string;
  readonly kernel: string;
  readonly architecture: string;
  readonly processor: string;
  readonly processors: number;
  /** How the kernel chooses frequencies; `unknown` where it does not tell, as in most virtual machines. */
  readonly governor: string;
  /** Bytes. */
  readonly memory: number;
  /** The average number of runnable tasks over the last minute, before and after. Above `processors` figures are rough. */
  readonly load: { readonly before: number; readonly after: number };
  readonly node: string;
  /** Of this program. */
  readonly heddle: string;
  /** Of the checkout that this program runs from; `unknown` when it does not run from one. */
  readonly commit: string;
}

/**
 * Looks around. Call it before the measurement; `end` fills in what is known afterwards.
 *
 * @param options.checkout the directory that holds `.git`
 */
export function lookAround({
  now,
  version,
  checkout,
}: {
  readonly now: Date;
  readonly version: string;
  readonly checkout: string | undefined;
}): { readonly end: () => Environment } {
  const before = loadavg()[0] ?? Number.NaN;
  return {
    end: () => ({
      at: now.toISOString(),
      system: fieldIn('/etc/os-release', /^PRETTY_NAME="(.*)"$/m),
      kernel: release(),
      architecture: process.arch,
      processor: fieldIn('/proc/cpuinfo', /^model name\s*: (.*)$/m),
      processors: availableParallelism(),
      governor: fieldIn('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor', /^(.+)$/m),
      memory: totalmem(),
      load: { before, after: loadavg()[0] ?? Number.NaN },
      node: process.versions.node,
      heddle: version,
      commit: checkout === undefined ? UNKNOWN : commitOf(join(checkout, '.git')),
    }),
  };
}

const UNKNOWN = 'unknown';

function fieldIn(path: string, pattern: RegExp): string {
  return pattern.exec(readIfThere(path))?.[1] ?? UNKNOWN;
}

function commitOf(git: string): string {
  const head = readIfThere(join(git, 'HEAD')).trim();
  if (!head.startsWith('ref: ')) return head || UNKNOWN;
  const ref = head.slice('ref: '.length);
  const packed = readIfThere(join(git, 'packed-refs'))
    .split('\n')
    .find((line) => line.endsWith(` ${ref}`));
  return readIfThere(join(git, ref)).trim() || packed?.split(' ')[0] || UNKNOWN;
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
