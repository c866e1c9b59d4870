/** Builds the agent's client, without any library, C's included: `build/plugins/heddle-shim`. */
import { buildStatic } from './static-program.ts';

/** The path of the program. */
export function buildShim(): string {
  return buildStatic('build/plugins/heddle-shim', { directory: 'native/shim', flags: WITHOUT_LIBRARY });
}

/** What needs a C library that has begun is left out, also where a distribution's compiler puts it in of itself. */
const WITHOUT_LIBRARY = ['-nostdlib', '-ffreestanding', '-fno-stack-protector', '-U_FORTIFY_SOURCE'];

if (import.meta.main) buildShim();
