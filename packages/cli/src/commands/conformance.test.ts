import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliLab } from '../testing/cli-lab.ts';

test('a number of kills that is none is refused before anything is run', async () => {
  using lab = new CliLab();
  for (const wrong of ['0', '-1', 'some', '1.5']) {
    const { exitCode, stderr } = await lab.run(['conformance', '/nowhere', `--crash=${wrong}`]);
    assert.equal(exitCode, 2, stderr);
    assert.match(stderr, /neither a number from 1 nor all/, wrong);
  }
});
