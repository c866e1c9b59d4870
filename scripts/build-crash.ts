/** Builds the tracer of `@heddle/conformance`, which kills programs at a chosen call: `packages/conformance/build/heddle-crash`. */
import { buildStatic } from './static-program.ts';

/** The path of the program. */
export function buildCrash(): string {
  return buildStatic('packages/conformance/build/heddle-crash', { directory: 'packages/conformance/native' });
}

if (import.meta.main) buildCrash();
