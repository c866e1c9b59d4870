import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { network, POD } from './testing/networks.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

test('CHECK gives every plugin the final result of ADD, in order', async () => {
  using stubs = new StubPlugins('one', 'two');
  stubs.install('two', { ADD: { stdout: '{"ips":[{"address":"192.0.2.6/24"}]}' } });
  const runtime = stubs.runtime();
  const list = network(['one', 'two']);
  await runtime.add(list, POD);
  stubs.clear();
  await runtime.check(list, POD);
  const final = { cniVersion: '1.1.0', ips: [{ address: '192.0.2.6/24' }] };
  assert.deepEqual(stubs.commands(), ['CHECK one', 'CHECK two']);
  assert.deepEqual(
    stubs.calls().map(({ stdin }) => stdin['prevResult']),
    [final, final],
  );
});

test('the cached result is converted to the version of the network', async () => {
  using stubs = new StubPlugins('one');
  const runtime = stubs.runtime();
  await runtime.add(network(['one'], { cniVersion: '1.0.0' }), POD);
  stubs.clear();
  await runtime.check(network(['one'], { cniVersion: '0.4.0' }), POD);
  assert.deepEqual(stubs.calls()[0]?.stdin['prevResult'], {
    cniVersion: '0.4.0',
    ips: [{ version: '4', address: '192.0.2.5/24' }],
    dns: {},
  });
});

test('CHECK runs without prevResult when nothing is cached', async () => {
  using stubs = new StubPlugins('one');
  await stubs.runtime().check(network(['one']), POD);
  assert.deepEqual(Object.keys(stubs.calls()[0]?.stdin ?? {}), ['cniVersion', 'name', 'type']);
});

test('before 0.4.0 there is no CHECK', async () => {
  using stubs = new StubPlugins('one');
  await assert.rejects(stubs.runtime().check(network(['one'], { cniVersion: '0.3.1' }), POD), {
    message: 'configuration version "0.3.1" does not support the CHECK command',
    code: 'CHECK_UNSUPPORTED',
  });
});

test('with disableCheck nothing is run', async () => {
  using stubs = new StubPlugins('one');
  await stubs.runtime().check(network(['one'], { disableCheck: true }), POD);
  assert.deepEqual(stubs.calls(), []);
});

test('the first plugin that finds a difference ends CHECK, with its own error', async () => {
  using stubs = new StubPlugins('one');
  stubs.install('two', { CHECK: { stdout: '{"code":150,"msg":"route is missing"}', exitCode: 1 } });
  const running = stubs.runtime().check(network(['two', 'one']), POD);
  await assert.rejects(running, { message: 'route is missing', cniCode: 150 });
  assert.deepEqual(stubs.commands(), ['CHECK two']);
});

test('a damaged cache entry fails CHECK', async () => {
  using stubs = new StubPlugins('one');
  const entry = join(stubs.cacheDir, 'results/net-c1-eth0');
  mkdirSync(join(stubs.cacheDir, 'results'), { recursive: true });
  const check = () => stubs.runtime().check(network(['one']), POD);
  writeFileSync(entry, 'adfadfadfadfadf');
  await assert.rejects(check, /failed to get network "net" cached result: /);
  writeFileSync(entry, '{"cniVersion":"0.4567.0"}');
  await assert.rejects(check, {
    message: 'failed to get network "net" cached result: unsupported CNI result version "0.4567.0"',
  });
  writeFileSync(entry, '{"cniVersion":"1.0.0"}');
  await assert.rejects(
    stubs.runtime().check(network(['one'], { cniVersion: '9.0.0' }), POD),
    /cached result: /,
  );
});
