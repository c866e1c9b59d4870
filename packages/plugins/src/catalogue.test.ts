import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from './catalogue.ts';
import { PLUGINS } from './index.ts';

test('the catalogue has all plugins, and knows the versions that they speak', async () => {
  assert.deepEqual([...CATALOGUE.keys()], [...PLUGINS.keys()]);
  for (const [type, { versions, load }] of CATALOGUE) {
    assert.equal(await load(), PLUGINS.get(type));
    assert.deepEqual(versions, PLUGINS.get(type)?.versions, type);
  }
});
