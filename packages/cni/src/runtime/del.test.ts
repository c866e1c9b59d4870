import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ErrorList } from '@heddle/errors';
import { network, POD, single } from './testing/networks.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

const FAILS = { DEL: { stdout: '{"code":100,"msg":"no"}', exitCode: 1 } } as const;
const RESULT = { cniVersion: '1.1.0', ips: [{ address: '192.0.2.5/24' }] };

test('DEL runs the plugins in reverse with the final result of ADD, and forgets the attachment', async () => {
  using stubs = new StubPlugins('one', 'two');
  const runtime = stubs.runtime();
  const list = network(['one', 'two']);
  await runtime.add(list, POD);
  stubs.clear();
  await runtime.del(list, POD);
  assert.deepEqual(stubs.commands(), ['DEL two', 'DEL one']);
  assert.deepEqual(
    stubs.calls().map(({ stdin }) => stdin['prevResult']),
    [RESULT, RESULT],
  );
  assert.deepEqual(readdirSync(join(stubs.cacheDir, 'results')), []);
});

test('DEL may come again, without a namespace and without anything cached', async () => {
  using stubs = new StubPlugins('one');
  const runtime = stubs.runtime();
  const list = network(['one']);
  await runtime.add(list, POD);
  await runtime.del(list, POD);
  stubs.clear();
  await runtime.del(list, { containerID: 'c1', ifName: 'eth0' });
  await runtime.del(list, { containerID: 'c1', ifName: 'eth0', netns: '' });
  assert.deepEqual(stubs.commands(), ['DEL one', 'DEL one']);
  assert.ok(stubs.calls().every(({ env, stdin }) => env['CNI_NETNS'] === '' && !('prevResult' in stdin)));
});

test('before version 0.4.0 DEL has no prevResult; a single plugin is treated alike', async () => {
  using stubs = new StubPlugins('one');
  const runtime = stubs.runtime();
  for (const [cniVersion, expected] of [
    ['0.3.1', undefined],
    ['0.4.0', { cniVersion: '0.4.0', ips: [{ version: '4', address: '192.0.2.5/24' }], dns: {} }],
  ] as const) {
    for (const net of [network(['one'], { cniVersion }), single({ type: 'one', cniVersion })]) {
      await runtime.add(net, POD);
      stubs.clear();
      await runtime.del(net, POD);
      assert.deepEqual(stubs.calls()[0]?.stdin['prevResult'], expected);
    }
  }
});

test('plugins#1282: a plugin that fails does not keep the others from DEL; the cache stays for another try', async () => {
  using stubs = new StubPlugins('one', 'two', 'three');
  const runtime = stubs.runtime();
  const list = network(['one', 'two', 'three']);
  await runtime.add(list, POD);
  stubs.install('three', FAILS);
  stubs.clear();
  const message = 'plugin type="three" failed (delete): no';
  await assert.rejects(runtime.del(list, POD), { message, cniCode: 100 });
  assert.deepEqual(stubs.commands(), ['DEL three', 'DEL two', 'DEL one']);
  assert.equal(runtime.attachments().length, 1);
  stubs.install('three');
  await runtime.del(list, POD);
  assert.equal(runtime.attachments().length, 0);
});

test('all failures of DEL are told', async () => {
  using stubs = new StubPlugins('two');
  stubs.install('one', FAILS);
  const list = network(['one', 'two', 'missing']);
  await assert.rejects(stubs.runtime().del(list, POD), (error) => {
    assert.ok(error instanceof ErrorList);
    assert.match(
      error.message,
      /^delete network "net" from container "c1": plugin type="missing" failed \(delete\): failed to find plugin "missing" in path .*; plugin type="one" failed \(delete\): no$/,
    );
    return true;
  });
});

test('with stopAtFirstError DEL ends where libcni ends', async () => {
  using stubs = new StubPlugins('one');
  stubs.install('two', FAILS);
  const running = stubs.runtime().del(network(['one', 'two']), POD, { stopAtFirstError: true });
  await assert.rejects(running, /plugin type="two" failed \(delete\): no/);
  assert.deepEqual(stubs.commands(), ['DEL two']);
});

const DAMAGES: readonly (readonly [name: string, damage: (path: string) => void])[] = [
  ['an empty file', (path) => truncateSync(path, 0)],
  ['half a document', (path) => truncateSync(path, 100)],
  ['not a result', (path) => writeFileSync(path, '{"ips":[{"address":"adfadfad"}]}')],
  ['of an unknown version', (path) => writeFileSync(path, '{"cniVersion":"9.9.9"}')],
  [
    'a directory',
    (path) => {
      rmSync(path);
      mkdirSync(join(path, 'inside'), { recursive: true });
    },
  ],
];

for (const [name, damage] of DAMAGES) {
  test(`cni#1055: a cache entry that is ${name} does not keep DEL from its work`, async () => {
    using stubs = new StubPlugins('one', 'two');
    const runtime = stubs.runtime();
    const list = network(['one', 'two']);
    await runtime.add(list, POD);
    const entry = join(stubs.cacheDir, 'results/net-c1-eth0');
    damage(entry);
    stubs.clear();
    await runtime.del(list, POD);
    assert.deepEqual(stubs.commands(), ['DEL two', 'DEL one']);
    assert.ok(stubs.calls().every(({ stdin }) => !('prevResult' in stdin)));
    assert.equal(existsSync(entry), false);
  });
}

test('cni#1055: when a plugin fails over a damaged entry, a second DEL still works', async () => {
  using stubs = new StubPlugins('one');
  const runtime = stubs.runtime();
  const list = network(['one']);
  await runtime.add(list, POD);
  truncateSync(join(stubs.cacheDir, 'results/net-c1-eth0'), 0);
  stubs.install('one', FAILS);
  await assert.rejects(runtime.del(list, POD), /failed \(delete\)/);
  stubs.install('one');
  await runtime.del(list, POD);
});

test('an entry of old times, which is the bare result, serves as prevResult', async () => {
  using stubs = new StubPlugins('one');
  mkdirSync(join(stubs.cacheDir, 'results'), { recursive: true });
  writeFileSync(join(stubs.cacheDir, 'results/net-c1-eth0'), JSON.stringify(RESULT));
  await stubs.runtime().del(network(['one']), POD);
  assert.deepEqual(stubs.calls()[0]?.stdin['prevResult'], RESULT);
});

test('DEL runs what ADD ran, not what the configuration says by now', async () => {
  using stubs = new StubPlugins('one', 'other');
  const runtime = stubs.runtime();
  await runtime.add(network([{ type: 'one', port: 8080 }]), {
    ...POD,
    args: [['K', 'V']],
    capabilityArgs: { mac: '02:00:00:00:00:01' },
  });
  stubs.clear();
  await runtime.del(network([{ type: 'other', port: 9090 }]), POD);
  assert.deepEqual(stubs.commands(), ['DEL one']);
  assert.equal(stubs.calls()[0]?.stdin['port'], 8080);
  assert.equal(stubs.calls()[0]?.env['CNI_ARGS'], 'K=V');
});

test('with useCachedConfig: false DEL runs the configuration as it is now', async () => {
  using stubs = new StubPlugins('one', 'other');
  const runtime = stubs.runtime();
  await runtime.add(network(['one']), POD);
  stubs.clear();
  await runtime.del(network(['other']), POD, { useCachedConfig: false });
  assert.deepEqual(stubs.commands(), ['DEL other']);
});

test('plugins#752: after the network was renamed, DEL goes to the network that ADD was called for', async () => {
  using stubs = new StubPlugins('portmap');
  const runtime = stubs.runtime();
  await runtime.add(network(['portmap'], { name: 'A' }), POD);
  stubs.clear();
  await runtime.del(network(['portmap'], { name: 'B' }), POD);
  assert.deepEqual(
    stubs.calls().map(({ stdin }) => stdin['name']),
    ['A'],
  );
  assert.deepEqual(runtime.attachments(), []);
  assert.match(stubs.warnings.join(), /interface "eth0" of container "c1" is on network "A", not "B"/);
});

test('a network that is gone can be given by its name', async () => {
  using stubs = new StubPlugins('one');
  const runtime = stubs.runtime();
  await runtime.add(network(['one']), POD);
  await runtime.del('net', POD);
  assert.deepEqual(stubs.commands(), ['ADD one', 'DEL one']);
  await assert.rejects(runtime.del('net', POD), { code: 'NOT_CACHED' });
});
