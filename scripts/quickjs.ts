/**
 * The JavaScript engine of the plugins' program: the sources of QuickJS (quickjs-ng), as the package `quickjs-ng` on
 * PyPI carries them. That package is a binding for Python; only the engine's own files are used, unchanged. pip is the
 * one client that every Debian has for a package with these sources: npm's carry them compiled to WebAssembly, Debian's
 * releases before 13 have none, and Debian's cargo is too old for today's registry.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const VERSION = '0.17.0.2';
const SHA256 = '43d2e48272208721a7aaea8e3f02d4b9318f12ef20cc4f5421b59d9a470706ef';

/** The directory with `quickjs.h` and the C sources. */
export const QUICKJS = `build/quickjs-${VERSION}/upstream-quickjs`;

/** Whether the sources are here. */
export function hasQuickjs(): boolean {
  return existsSync(join(QUICKJS, 'quickjs.c'));
}

/** Downloads the sources, checks that they are those that were meant, and unpacks them. */
export function fetchQuickjs(): void {
  mkdirSync('build', { recursive: true });
  const scratch = mkdtempSync('build/quickjs-');
  try {
    const wanted = join(scratch, 'requirements.txt');
    writeFileSync(wanted, `quickjs-ng==${VERSION} --hash=sha256:${SHA256}\n`);
    const from = ['--no-deps', '--no-binary=:all:', '--require-hashes', `--requirement=${wanted}`];
    execFileSync('python3', ['-m', 'pip', 'download', '--quiet', `--dest=${scratch}`, ...from], {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    });
    execFileSync('tar', ['-xzf', join(scratch, `quickjs_ng-${VERSION}.tar.gz`), '-C', scratch]);
    renameSync(join(scratch, `quickjs_ng-${VERSION}`), `build/quickjs-${VERSION}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
