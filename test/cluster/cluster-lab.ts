/** Labs for tests: with the command as it is delivered, and gone with the test's process. */
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  isComplete,
  type LabSpec,
  type Matrix,
  type MatrixOptions,
  matrixText,
  RunningLab,
} from '@heddle/lab';
import { buildCommand } from '../../scripts/build-command.ts';
import { until } from '../support/until.ts';

/** The `heddle` command as it is built, which starts in a fraction of the time that sources take. */
export function heddleProgram(): readonly string[] {
  return [process.execPath, resolve(buildCommand())];
}

/** Starts a lab of a name of its own. */
export function startLab(spec: LabSpec): Promise<RunningLab> {
  return RunningLab.start(spec, {
    name: `test-${process.pid}-${++labs}`,
    directory: mkdtempSync(join(tmpdir(), 'heddle-lab-')),
    program: heddleProgram(),
    owned: true,
  });
}

let labs = 0;

/** Asserts that within each of these groups of nodes everybody reaches everybody, and nobody reaches anybody of another group. */
export async function assertParted(lab: RunningLab, groups: readonly (readonly string[])[]): Promise<void> {
  for (const from of groups) {
    for (const to of groups) {
      // Who is silent is waited for in vain, who is busy is not.
      const matrix = await lab.ask('matrix', { from, to, timeout: from === to ? 20_000 : 2_000 });
      assert.ok(matrix.reaches.length > 0);
      const ways = from === to ? 0 : WAYS;
      assert.ok(
        matrix.reaches.every(({ failures }) => Object.keys(failures).length === ways),
        matrixText(matrix),
      );
    }
  }
}

/** In how many ways a matrix asks. */
const WAYS = 3;

/** Waits until everybody reaches everybody, or says who does not. */
export async function untilComplete(lab: RunningLab, options: MatrixOptions = {}): Promise<Matrix> {
  return await until(
    'all ways to be open',
    async () => {
      const matrix = await lab.ask('matrix', options);
      assert.ok(matrix.reaches.length > 0);
      if (!isComplete(matrix)) throw new assert.AssertionError({ message: matrixText(matrix) });
      return matrix;
    },
    60,
  );
}
