/** Whose plugins are measured. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from './bench-error.ts';
import type { Service } from './node.ts';

/** Plugins in a directory. */
export interface Contender {
  readonly name: string;
  /** The directory, absolute. */
  readonly directory: string;
  /** What serves the calls that these plugins hand over; `undefined` when they do their work themselves. */
  readonly agent?: Service | undefined;
}

/** The environment of whatever runs in a node. */
export const NODE_ENVIRONMENT: Readonly<Record<string, string>> = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

/**
 * The program of a plugin.
 *
 * @throws {BenchError} BENCH_REFUSED when there is none
 */
export function programOf({ name, directory }: Contender, type: string): string {
  const program = join(directory, type);
  try {
    accessSync(program, constants.X_OK);
  } catch (cause) {
    throw new BenchError('BENCH_REFUSED', `${name}: there is no plugin ${type} in ${directory}`, { cause });
  }
  return program;
}
