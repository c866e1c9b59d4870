/** Builds the driver of `@heddle/bench`, which calls plugins as a runtime does: `packages/bench/build/heddle-bench-driver`. */
import { buildStatic } from './static-program.ts';

/** The path of the program. */
export function buildDriver(): string {
  return buildStatic('packages/bench/build/heddle-bench-driver', {
    directory: 'packages/bench/native',
    flags: ['-pthread'],
  });
}

if (import.meta.main) buildDriver();
