/** Which of the programs that tests talk to are there. */
import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** Directories of plugins to compare with: Debian's, and the current release where it could be built. */
export const REFERENCE = {
  debian: '/usr/lib/cni',
  current: resolve('build/reference'),
} as const;

/** A reason to skip for want of these programs, for `test`'s `skip` option; `false` when all are there. */
export function missing(...programs: readonly string[]): string | false {
  const absent = programs.filter((program) => locate(program) === undefined);
  return absent.length === 0 ? false : `not installed: ${absent.join(', ')}`;
}

/** The same for what is built only where Go is installed. */
export function missingReference(...names: readonly string[]): string | false {
  const absent = names.filter((name) => !existsSync(join(REFERENCE.current, name)));
  if (absent.length === 0) return false;
  return locate('go') === undefined
    ? 'Go is not on this machine'
    : `not installed: ${absent.join(', ')} of the reference`;
}

/** The same for Flannel's daemon, which takes minutes to build, so that somebody has to ask for it. */
export function missingFlanneld(): string | false {
  return existsSync(join(REFERENCE.current, 'flanneld')) ? false : 'asked for by scripts/build-flanneld.sh';
}

function locate(program: string): string | undefined {
  if (program.includes('/')) return existsSync(program) ? program : undefined;
  const path = (process.env['PATH'] ?? '').split(delimiter);
  return path.map((directory) => join(directory, program)).find((file) => existsSync(file));
}
