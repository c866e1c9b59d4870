/** Static programs of C, which need nothing on the machine that they run on. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Builds a program with the machine's C compiler; nothing is done when its sources are older. `CC` names another
 * compiler.
 *
 * @param directory of the sources; headers in it count as such
 * @param flags for the compiler, besides the usual ones
 * @returns the path of the program
 */
export function buildStatic(
  program: string,
  {
    directory,
    sources = `${directory}/*.c`,
    flags = [],
  }: {
    readonly directory: string;
    readonly sources?: string;
    readonly flags?: readonly string[];
  },
): string {
  if (!isStale(program, globSync(`${directory}/*`))) return program;
  mkdirSync(dirname(program), { recursive: true });
  // Tests in several processes may build at the same time.
  const draft = `${program}.${process.pid}`;
  execFileSync(
    process.env['CC'] ?? 'cc',
    [
      ...['-std=c11', '-D_GNU_SOURCE', '-O2', '-Wall', '-Wextra', '-Werror'],
      ...['-static', '-no-pie', '-s', ...flags, '-o', draft, ...globSync(sources)],
    ],
    { stdio: 'inherit' },
  );
  renameSync(draft, program);
  return program;
}

function isStale(program: string, sources: readonly string[]): boolean {
  if (!existsSync(program)) return true;
  const built = statSync(program).mtimeMs;
  return [...sources, 'scripts/static-program.ts'].some((path) => statSync(path).mtimeMs > built);
}
