/**
 * Builds the agent's client with the machine's C compiler: `build/plugins/heddle-shim`, without any library. Nothing is
 * done when the sources are older than the program. `CC` names another compiler.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const OUT = 'build/plugins';

/** The path of the program. */
export function buildShim(): string {
  const program = join(OUT, 'heddle-shim');
  mkdirSync(OUT, { recursive: true });
  if (!isStale(program)) return program;
  // Tests in several processes may build at the same time.
  const draft = `${program}.${process.pid}`;
  execFileSync(
    process.env['CC'] ?? 'cc',
    [
      ...['-std=c11', '-D_GNU_SOURCE', '-O2', '-Wall', '-Wextra', '-Werror'],
      ...['-static', '-no-pie', '-s', '-o', draft, 'native/shim/shim.c'],
    ],
    { stdio: 'inherit' },
  );
  renameSync(draft, program);
  return program;
}

function isStale(program: string): boolean {
  if (!existsSync(program)) return true;
  const built = statSync(program).mtimeMs;
  return [...globSync('native/shim/*'), 'scripts/build-shim.ts'].some(
    (path) => statSync(path).mtimeMs > built,
  );
}

if (import.meta.main) buildShim();
