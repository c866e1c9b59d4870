/** Every example of the README runs as it stands. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runProgram } from './testing/program.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

for (const [, title = '', example = ''] of readme.matchAll(/^## (.*)$[\s\S]*?^```ts\n([\s\S]*?)^```$/gm)) {
  test(title, () => {
    const { status, stdout } = runProgram(example);
    assert.equal(status, 0);
    assert.notEqual(stdout, '');
    // What a comment after console.log promises is what is printed.
    for (const [, promised = ''] of example.matchAll(
      /console\.log\(.*\); \/\/ ([^;:,\n]*|\[.*?\])(?:[;:,].*)?$/gm,
    )) {
      assert.ok(stdout.includes(promised), `${promised} in ${stdout}`);
    }
  });
}
