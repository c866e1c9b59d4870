import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createNetns, runInNetns } from '@heddle/sys';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(`${root}/README.md`, 'utf8');

for (const [, title = '', code = ''] of readme.matchAll(/^## (.*)\n\n```ts\n([\s\S]*?)^```$/gm)) {
  test(`the README's example runs: ${title}`, () => {
    using netns = createNetns();
    const args = ['--conditions=source', '--input-type=module-typescript', '--eval', code];
    const { status, stdout, stderr } = runInNetns(netns, () =>
      spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' }),
    );
    assert.equal(status, 0, stderr);
    assert.notEqual(stdout, '');
  });
}
