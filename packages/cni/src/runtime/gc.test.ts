import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { network, POD } from './testing/networks.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

const VALID = [{ containerID: 'c1', ifname: 'eth0' }];

test('GC deletes what nobody claims, then asks the plugins; disableGC does nothing', async () => {
  using stubs = new StubPlugins('noop');
  const runtime = stubs.runtime();
  await runtime.add(network(['noop']), POD);
  await runtime.gc(network(['noop'], { disableGC: true }), []);
  await runtime.gc(network(['noop']), VALID);
  await runtime.gc(network(['noop']), []);
  assert.deepEqual(stubs.commands(), ['ADD noop', 'GC noop', 'DEL noop', 'GC noop']);
});

test('cni#1101: plugins get the attachments that are alive under both names', async () => {
  using stubs = new StubPlugins('noop');
  const runtime = stubs.runtime();
  const list = network([{ type: 'noop', capabilities: { mac: true } }]);
  await runtime.gc(list, VALID);
  await runtime.gc(list, []);
  const [some, none] = stubs.calls();
  assert.deepEqual(some?.stdin, {
    capabilities: { mac: true },
    'cni.dev/attachments': VALID,
    'cni.dev/valid-attachments': VALID,
    cniVersion: '1.1.0',
    name: 'net',
    type: 'noop',
  });
  assert.deepEqual(none?.stdin['cni.dev/valid-attachments'], []);
  const { CNI_CONTAINERID, CNI_NETNS, CNI_IFNAME, CNI_ARGS, CNI_PATH } = some?.env ?? {};
  assert.deepEqual([CNI_CONTAINERID, CNI_NETNS, CNI_IFNAME, CNI_ARGS, CNI_PATH], ['', '', '', '', stubs.bin]);
});

test('cni#1101: a cache directory that does not exist is no failure', async () => {
  using stubs = new StubPlugins('noop');
  await stubs.runtime().gc(network(['noop']), []);
  assert.deepEqual(stubs.commands(), ['GC noop']);
  assert.equal(existsSync(stubs.cacheDir), false);
});

test("only this network's attachments are deleted, with what ADD was told", async () => {
  using stubs = new StubPlugins('noop');
  const runtime = stubs.runtime();
  await runtime.add(network(['noop'], { name: 'other' }), { ...POD, ifName: 'net1' });
  await runtime.add(network(['noop']), POD);
  await runtime.add(network(['noop']), {
    ...POD,
    containerID: 'c2',
    args: [['K', 'V']],
    netns: '/run/netns/c2',
  });
  stubs.clear();
  await runtime.gc(network(['noop']), VALID);
  assert.deepEqual(stubs.commands(), ['DEL noop', 'GC noop']);
  const { env, stdin } = stubs.calls()[0] ?? {};
  assert.deepEqual(
    [env?.['CNI_CONTAINERID'], env?.['CNI_NETNS'], env?.['CNI_ARGS']],
    ['c2', '/run/netns/c2', 'K=V'],
  );
  assert.ok(stdin !== undefined && 'prevResult' in stdin);
  assert.deepEqual(
    runtime.attachments().map(({ network: name, containerID }) => `${name} ${containerID}`),
    ['net c1', 'other c1'],
  );
});

test('GC goes on past what fails, and tells all of it', async () => {
  using stubs = new StubPlugins('noop');
  stubs.install('bad', {
    DEL: { stdout: '{"code":100,"msg":"stuck"}', exitCode: 1 },
    GC: { stdout: '{"code":101,"msg":"cannot"}', exitCode: 1 },
  });
  const runtime = stubs.runtime();
  const list = network(['bad', 'noop']);
  await runtime.add(list, POD);
  stubs.clear();
  await assert.rejects(runtime.gc(list, []), {
    message:
      'gc of network "net": failed to delete stale attachment c1 eth0: plugin type="bad" failed (delete): stuck; ' +
      'failed to GC plugin bad: cannot',
  });
  assert.deepEqual(stubs.commands(), ['DEL noop', 'DEL bad', 'GC bad', 'GC noop']);
});

test('before 1.1.0 plugins know no GC; the stale attachments are deleted all the same', async () => {
  using stubs = new StubPlugins('noop');
  const runtime = stubs.runtime();
  const list = network(['noop'], { cniVersion: '1.0.0' });
  await runtime.add(list, POD);
  await runtime.gc(list, []);
  assert.deepEqual(stubs.commands(), ['ADD noop', 'DEL noop']);
});

test('an attachment that is added while GC waits for it is alive, although the caller could not name it', async () => {
  using stubs = new StubPlugins();
  const go = join(stubs.root, 'go');
  stubs.install('slow', { ADD: { stdout: '{}', script: `while [ ! -e ${go} ]; do sleep 0.02; done` } });
  const runtime = stubs.runtime();
  const list = network(['slow']);
  const adding = runtime.add(list, POD);
  while (stubs.commands().length < 1) await sleep(5);
  const collecting = runtime.gc(list, []);
  writeFileSync(go, '');
  await Promise.all([adding, collecting]);
  assert.deepEqual(stubs.commands(), ['ADD slow', 'GC slow']);
  assert.deepEqual(stubs.calls()[1]?.stdin['cni.dev/valid-attachments'], VALID);
  await runtime.gc(list, []);
  assert.deepEqual(stubs.commands().slice(2), ['DEL slow', 'GC slow']);
});
