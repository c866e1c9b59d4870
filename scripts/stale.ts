/** Whether something has to be built anew. */
import { existsSync, globSync, statSync, utimesSync } from 'node:fs';

/** Whether a program that is built from all packages, and from these files, is older than one of them. */
export function isStale(program: string, ...more: readonly string[]): boolean {
  if (!existsSync(program)) return true;
  const built = statSync(program).mtimeMs;
  const modules = globSync('packages/*/src/**/*.ts').filter((path) => !path.endsWith('.test.ts'));
  return [...modules, 'package-lock.json', ...more].some((path) => statSync(path).mtimeMs > built);
}

/** Dates what was built at the moment its building began: what changed in the meantime is not in it. */
export function dateBuilt(program: string, began: Date): void {
  utimesSync(program, began, began);
}
