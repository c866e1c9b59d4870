/** The search finds what is planted, and finds it because it looks where new code is reached. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FAULT, replaceStored, storedInputs, storeInput } from './engine/corpus.ts';
import { countBlocks, EndlessError } from './engine/coverage.ts';
import { type FuzzReport, fuzz, smallestCover } from './engine/fuzz.ts';
import { instrument } from './engine/instrument.ts';
import { bytesOf, type Target, textOf, valueUnless } from './engine/target.ts';

countBlocks((path) => path.startsWith('test/fuzz/planted/'));
const { decodeForEver, decodePlanted, decodeSlowly, PlantedError } = await import('./planted/decoder.ts');

const planted: Target = {
  name: 'planted',
  shape: { of: 'bytes' },
  seeds: () => [new Uint8Array(8)],
  run: (input) => void valueUnless([PlantedError], () => decodePlanted(input)),
};

function search(seed: number, { executions = 40_000, blind = false } = {}): Promise<FuzzReport> {
  return fuzz(planted, { seed, inputs: [], goOn: (done) => done < executions, blind });
}

for (const seed of [1, 2]) {
  test(`a fault behind five bytes is found and made small (seed ${seed})`, async () => {
    const { faults } = await search(seed);
    assert.equal(faults.length, 1);
    assert.ok(faults[0]?.error instanceof TypeError);
    assert.deepEqual(faults[0].input, Uint8Array.of(0xc4, 0x17, 0x9b, 0x61, 0x75));
  });

  test(`by chance it is not (seed ${seed})`, async () => {
    const { faults } = await search(seed, { blind: true });
    assert.deepEqual(faults, []);
  });
}

test('one seed is one search', async () => {
  const discoveriesOf = async (seed: number) => (await search(seed, { executions: 10_000 })).discoveries;
  const [one, again, other] = [await discoveriesOf(5), await discoveriesOf(5), await discoveriesOf(6)];
  assert.deepEqual(one, again);
  assert.notDeepEqual(one, other);
});

test('a decoder that never ends is a fault, without any clock', async () => {
  const target: Target = { ...planted, run: (input) => void decodeForEver(input) };
  const { faults } = await fuzz(target, { seed: 1, inputs: [Uint8Array.of(0)], goOn: () => false });
  assert.ok(faults[0]?.error instanceof EndlessError);
});

test('a decoder that takes quadratic time is a fault', async () => {
  const target: Target = { ...planted, run: (input) => void decodeSlowly(input) };
  const long = new Uint8Array(2000);
  const { faults } = await fuzz(target, {
    seed: 1,
    inputs: [long.subarray(0, 200), long],
    goOn: () => false,
  });
  assert.match(String(faults[0]?.error), /blocks were entered for \d+ bytes/);
});

test('of the inputs that are found, those are kept that cover all code, each as small as can be', async () => {
  const { discoveries } = await search(1);
  const kept = await smallestCover(planted, [...discoveries, ...discoveries], planted.seeds());
  assert.ok(kept.length > 0 && kept.length <= discoveries.length);
  assert.deepEqual(await smallestCover(planted, discoveries, [...planted.seeds(), ...kept]), []);
});

test('a corpus is replaced but for the inputs that showed a fault', () => {
  const root = mkdtempSync(join(tmpdir(), 'heddle-corpus-'));
  try {
    storeInput('t', bytesOf('old'), root);
    storeInput('t', bytesOf('fault'), root, FAULT);
    replaceStored('t', [bytesOf('new')], root);
    assert.deepEqual(
      storedInputs('t', root)
        .map(({ input }) => textOf(input))
        .sort(),
      ['fault', 'new'],
    );
  } finally {
    rmSync(root, { recursive: true });
  }
});

test('a module with counters does what it did without, line by line', async () => {
  const source = [
    'export const log: unknown[] = []; const say = (each: number) => (log.push(each), each as number);',
    'function f(a: number, b = a > 1 ? a : undefined) { return b ?? (a && { a }.a); }',
    'if (say(f(0))) say(1); else if (say(f(1))) { say(2); } else for (const x of [1]) say(x);',
    'for (const x of [1, 2]) if (x > 1) say(x); else say(-x)',
    'switch (say(2) as number) { case 1: case 2: say(4); default: { say(5); } }',
    'let n = 3; while (--n) say(n); do say(n); while (n > 0); n ||= say(7); n ||= say(8);',
    'try { throw new Error("x"); } catch (error) { log.push((error as Error).stack?.split("\\n").length); }',
    'class A { #x = () => { return 9; }; get x() { return this.#x(); } static { say(new A().x); } }',
  ].join('\n');
  const { code, blocks, literals } = instrument(source, 'a.ts', 10);
  const logOf = async (text: string) => {
    const url = `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(text))}`;
    return ((await import(url)) as { log: unknown }).log;
  };
  assert.deepEqual(await logOf(code), await logOf(source));
  assert.equal(code.split('\n').length, source.split('\n').length);
  assert.deepEqual(
    [...code.matchAll(/__h[bl]\((\d+)\)/g)].map(([, number]) => Number(number)).sort((a, b) => a - b),
    Array.from({ length: blocks }, (_, index) => 10 + index),
  );
  assert.ok(literals.includes('x') && literals.includes(9));
});
