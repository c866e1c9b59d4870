/** Every decoder, and the door of the plugins: what the corpus holds, and a search of bounded length from there. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CORPUS, FAULT, storedInputs, storeInput } from './engine/corpus.ts';
import { countBlocks } from './engine/coverage.ts';
import { type Fault, fuzz } from './engine/fuzz.ts';

countBlocks();
// Later than the counters, so that the decoders have them.
const { TARGETS } = await import('./targets/index.ts');

const EXECUTIONS = Number(process.env['FUZZ_EXECUTIONS'] ?? 1500);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20261130);
/** Absolute: the targets change the working directory. */
const FOUND = fileURLToPath(new URL('../../build/fuzz/', import.meta.url));

for (const target of TARGETS) {
  test(`${target.name}: ${EXECUTIONS} inputs give a value or the decoder's own error (seed ${SEED})`, async (context) => {
    const inputs = storedInputs(target.name).map(({ input }) => input);
    const report = await fuzz(target, {
      ...{ seed: SEED, inputs },
      goOn: (executions) => executions < EXECUTIONS + inputs.length,
    });
    context.diagnostic(`${report.executions} executions, ${report.blocks} blocks`);
    assert.equal(
      report.faults.length,
      0,
      report.faults.map((fault) => describe(target.name, fault)).join('\n'),
    );
  });
}

test('the corpus holds inputs of targets only', () => {
  const names = new Set(TARGETS.map(({ name }) => name));
  assert.deepEqual(
    readdirSync(CORPUS).filter((folder) => !names.has(folder)),
    [],
  );
});

function describe(target: string, { input, error }: Fault): string {
  const path = storeInput(target, input, FOUND, FAULT);
  return `FUZZ_INPUT=${path} make fuzz\n${error.stack ?? error.message}`;
}
