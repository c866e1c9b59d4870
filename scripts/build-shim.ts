/** Builds the agent's client, without any library: `build/plugins/heddle-shim`. */
import { buildStatic } from './static-program.ts';

/** The path of the program. */
export function buildShim(): string {
  return buildStatic('build/plugins/heddle-shim', { directory: 'native/shim' });
}

if (import.meta.main) buildShim();
