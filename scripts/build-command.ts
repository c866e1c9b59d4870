/**
 * Bundles the `heddle` command, which is the agent too, into one file for Node.js: `build/heddle/lib/heddle.js`, with
 * the addon beside it. From there the agent starts in a tenth of the time that its sources take, and holds half the
 * memory (docs/agent.md). Nothing is done when the sources are older.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bunPath, putAddonInto } from './bun.ts';
import { dateBuilt, isStale } from './stale.ts';

// As deep below the repository as the command's sources, which look for other files of a build from where they are.
const OUT = 'build/heddle/lib';

/** The path of the program. */
export function buildCommand(): string {
  const program = join(OUT, 'heddle.js');
  mkdirSync(OUT, { recursive: true });
  if (isStale(program, 'scripts/build-command.ts')) bundle(program);
  putAddonInto(OUT);
  return program;
}

/**
 * One file, because an agent that runs must not look for parts of itself where a newer build has others; and not
 * minified, so that a stack in a log can be read.
 */
function bundle(program: string): void {
  const began = new Date();
  const unfinished = `${program}.${process.pid}`;
  execFileSync(bunPath(), [
    'build',
    '--target=node',
    '--format=esm',
    '--conditions=source',
    '--main-fields=module',
    '--main-fields=main',
    `--outfile=${unfinished}`,
    'packages/cli/src/main.ts',
  ]);
  writeFileSync(unfinished, inAscii(readFileSync(unfinished, 'utf8')));
  dateBuilt(unfinished, began);
  renameSync(unfinished, program);
  rmSync(unfinished, { force: true });
  console.log(`built ${program}`);
}

/** V8 keeps a source with one character beyond Latin-1 in it at two bytes a character. */
function inAscii(source: string): string {
  return source.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

if (import.meta.main) buildCommand();
