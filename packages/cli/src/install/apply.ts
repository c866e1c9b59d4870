/**
 * Carries out a plan. Every file appears whole or not at all, and replaces what a running plugin has open
 * without disturbing it: it is written under another name, then renamed.
 */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeOpenDirectory } from './open-directory.ts';
import type { Content, Step } from './plan.ts';
import { formatRecord } from './record.ts';

/** Carries out the steps in their order. */
export function applySteps(steps: readonly Step[]): void {
  for (const step of steps) applyStep(step);
}

function applyStep(step: Step): void {
  switch (step.do) {
    case 'create':
    case 'replace':
      appear(step.path, (draft) => write(draft, step.content));
      return;
    case 'link':
      appear(step.path, (draft) => symlinkSync(step.target, draft));
      return;
    case 'record':
      appear(step.path, (draft) =>
        writeFileSync(draft, formatRecord(step.record), { mode: 0o644, flush: true }),
      );
      return;
    case 'remove':
      rmSync(step.path, { force: true });
      return;
    case 'keep':
    case 'skip':
      return;
  }
}

/**
 * Puts something at a path, whole or not at all.
 *
 * @param make makes what is to be at `path`, under the name that it is given
 */
export function appear(path: string, make: (draft: string) => void): void {
  makeOpenDirectory(dirname(path));
  // A draft that a killed installation left is overwritten by the next one.
  const draft = join(dirname(path), `.${basename(path)}.heddle-draft`);
  rmSync(draft, { force: true });
  make(draft);
  renameSync(draft, path);
}

function write(path: string, content: Content): void {
  if ('text' in content) writeFileSync(path, content.text);
  else copyFileSync(content.from, path);
  chmodSync(path, content.mode);
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
