import assert from 'node:assert/strict';
import { test } from 'node:test';
import { network } from './testing/networks.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

test('STATUS asks the plugins in order, with name and version only', async () => {
  using stubs = new StubPlugins('one', 'two');
  await stubs.runtime().status(network(['one', 'two']));
  assert.deepEqual(stubs.commands(), ['STATUS one', 'STATUS two']);
  assert.deepEqual(stubs.calls()[0]?.stdin, { cniVersion: '1.1.0', name: 'net', type: 'one' });
});

test('the first plugin that is not ready ends STATUS, with its code', async () => {
  using stubs = new StubPlugins('one', 'three');
  stubs.install('two', { STATUS: { stdout: '{"code":50,"msg":"not ready"}', exitCode: 1 } });
  const running = stubs.runtime().status(network(['one', 'two', 'three']));
  await assert.rejects(running, { cniCode: 50, message: 'not ready' });
  assert.deepEqual(stubs.commands(), ['STATUS one', 'STATUS two']);
});

test('before 1.1.0, or with a version that is none, nobody is asked', async () => {
  using stubs = new StubPlugins('one');
  for (const cniVersion of ['1.0.0', '', 'broken'])
    await stubs.runtime().status(network(['one'], { cniVersion }));
  assert.deepEqual(stubs.calls(), []);
});
