/**
 * Builds the plugins' multi-call program, `build/plugins/heddle-cni`: one file without any library. Nothing is done
 * when the sources are older than the program. `CC` names another compiler; what it makes must run here, because the
 * program is finished by its own first half (`packages/standalone/native/freeze.c`).
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { flock, O, openFile } from '@heddle/sys';
import { bundleStandalone } from './bundle-standalone.ts';
import { compileStandalone } from './compile-standalone.ts';
import { dateBuilt, isStale } from './stale.ts';

const OUT = 'build/plugins';

/** The directory that holds the program, and `bundle.json`, which says what is in it. */
export function buildStandalone(): string {
  const program = join(OUT, 'heddle-cni');
  const more = globSync([
    'packages/{standalone,sys}/native/*',
    'scripts/*standalone.ts',
    'scripts/quickjs.ts',
  ]);
  if (!isStale(program, ...more)) return OUT;
  mkdirSync(OUT, { recursive: true });
  // Several tests may find the program stale at once, and compiling the engine takes a minute.
  using turn = openFile('build/standalone.lock', O.RDWR | O.CREAT, 0o600);
  flock(turn, 'exclusive');
  if (isStale(program, ...more)) build(program);
  return OUT;
}

function build(program: string): void {
  const began = new Date();
  const draft = mkdtempSync('build/standalone-');
  try {
    bundleStandalone(draft);
    const finished = join(draft, 'heddle-cni');
    execFileSync(compileStandalone(draft), [join(draft, 'program.js'), finished], { stdio: 'inherit' });
    renameSync(join(draft, 'bundle.json'), join(OUT, 'bundle.json'));
    dateBuilt(finished, began);
    renameSync(finished, program);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  console.log(`built ${program} in ${((Date.now() - began.getTime()) / 1000).toFixed(1)} s`);
}

if (import.meta.main) buildStandalone();
