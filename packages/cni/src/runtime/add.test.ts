import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CniError, PluginError } from '../index.ts';
import { network, POD, single } from './testing/networks.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

const FAILS = { ADD: { stdout: '{"code":100,"msg":"no"}', exitCode: 1 } } as const;

test('each plugin gets its own object, with the result of the one before and what it can use', async () => {
  using stubs = new StubPlugins('one', 'two');
  stubs.install('one', { ADD: { stdout: '{"ips":[{"address":"192.0.2.5/24"}]}' } });
  stubs.install('two', { ADD: { stdout: '{"cniVersion":"1.1.0","ips":[{"address":"192.0.2.6/24"}]}' } });
  const list = network([
    { type: 'one', ipam: { subnet: '192.0.2.0/24' } },
    { type: 'two', capabilities: { portMappings: true, mac: false } },
  ]);
  const result = await stubs
    .runtime({ env: { PATH: '/bin', INHERITED: 'yes', CNI_IFNAME: 'old' } })
    .add(list, {
      ...POD,
      args: [
        ['IgnoreUnknown', '1'],
        ['K8S_POD_NAME', 'web'],
      ],
      capabilityArgs: { portMappings: [{ hostPort: 80 }], mac: '02:00:00:00:00:01' },
    });
  assert.deepEqual(result, { cniVersion: '1.1.0', ips: [{ address: '192.0.2.6/24' }] });
  const [one, two] = stubs.calls();
  assert.deepEqual(one?.stdin, {
    cniVersion: '1.1.0',
    ipam: { subnet: '192.0.2.0/24' },
    name: 'net',
    type: 'one',
  });
  assert.deepEqual(two?.stdin, {
    capabilities: { mac: false, portMappings: true },
    cniVersion: '1.1.0',
    name: 'net',
    prevResult: { cniVersion: '1.1.0', ips: [{ address: '192.0.2.5/24' }] },
    runtimeConfig: { portMappings: [{ hostPort: 80 }] },
    type: 'two',
  });
  for (const { env } of [one, two].flatMap((call) => call ?? [])) {
    assert.deepEqual(env, {
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: 'c1',
      CNI_NETNS: '/run/netns/c1',
      CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAME=web',
      CNI_IFNAME: 'eth0',
      CNI_PATH: stubs.bin,
      HEDDLE_LOCKS: 'network/net,container/c1',
      INHERITED: 'yes',
      TRACEPARENT: '',
      TRACESTATE: '',
      BAGGAGE: '',
    });
  }
});

test('a trace context goes to the plugins and wins over an inherited one', async () => {
  using stubs = new StubPlugins('one');
  const runtime = stubs.runtime({ env: { TRACEPARENT: 'old', BAGGAGE: 'old' } });
  await runtime.add(network(['one']), POD, { trace: { traceparent: '00-1-2-01', tracestate: 'a=b' } });
  await runtime.add(network(['one']), { ...POD, containerID: 'c2' });
  const traces = stubs.calls().map(({ env }) => [env['TRACEPARENT'], env['TRACESTATE'], env['BAGGAGE']]);
  assert.deepEqual(traces, [
    ['00-1-2-01', 'a=b', 'old'],
    ['old', '', 'old'],
  ]);
});

test('what was added is cached, in the bytes of the reference', async () => {
  using stubs = new StubPlugins('one');
  const list = network(['one'], { name: 'n1' });
  await stubs.runtime().add(list, {
    ...POD,
    netns: '/var/run/netns/x',
    args: [['IgnoreUnknown', '1']],
    capabilityArgs: { mac: '02:00:00:00:00:01' },
  });
  const config = Buffer.from(list.bytes).toString('base64');
  assert.equal(
    readFileSync(join(stubs.cacheDir, 'results/n1-c1-eth0'), 'utf8'),
    `{"kind":"cniCacheV1","containerId":"c1","config":"${config}","ifName":"eth0","networkName":"n1","netns":"/var/run/netns/x","cniArgs":[["IgnoreUnknown","1"]],"capabilityArgs":{"mac":"02:00:00:00:00:01"},"result":{"cniVersion":"1.1.0","ips":[{"address":"192.0.2.5/24"}]}}`,
  );
  assert.deepEqual(readdirSync(stubs.cacheDir), ['results']);
});

test('two interfaces of one container on one network are two cache entries', async () => {
  using stubs = new StubPlugins('one');
  const runtime = stubs.runtime();
  await runtime.add(network(['one']), POD);
  await runtime.add(network(['one']), { ...POD, ifName: 'eth1' });
  assert.deepEqual(readdirSync(join(stubs.cacheDir, 'results')), ['net-c1-eth0', 'net-c1-eth1']);
});

test('the first plugin that fails ends ADD; nothing is cached, nothing undone', async () => {
  using stubs = new StubPlugins('one', 'three');
  stubs.install('two', FAILS);
  await assert.rejects(
    stubs.runtime().add(network(['one', { type: 'two', name: 'second' }, 'three']), POD),
    (error) => {
      assert.ok(error instanceof CniError);
      assert.equal(error.message, 'plugin type="two" name="second" failed (add): no');
      assert.equal(error.cniCode, 100);
      assert.ok(error.cause instanceof PluginError);
      return true;
    },
  );
  assert.deepEqual(stubs.commands(), ['ADD one', 'ADD two']);
  assert.equal(existsSync(join(stubs.cacheDir, 'results')), false);
});

test('the error of a single plugin is its own', async () => {
  using stubs = new StubPlugins();
  stubs.install('two', FAILS);
  await assert.rejects(stubs.runtime().add(single({ type: 'two' }), POD), { message: 'no', cniCode: 100 });
});

test('a single plugin is run with its own name and version, and its own bytes are cached', async () => {
  using stubs = new StubPlugins('one');
  const conf = single({ type: 'one', cniVersion: '0.3.1', ipam: {} });
  const runtime = stubs.runtime();
  const result = await runtime.add(conf, POD);
  assert.equal(result.cniVersion, '0.3.1');
  assert.deepEqual(stubs.calls()[0]?.stdin, { cniVersion: '0.3.1', ipam: {}, name: 'net', type: 'one' });
  assert.deepEqual(runtime.cachedConfig(conf, POD)?.bytes, Buffer.from(conf.bytes));
});

test('with undoOnFailure a failed ADD is followed by DEL of all, in reverse and without prevResult', async () => {
  using stubs = new StubPlugins('one', 'three');
  stubs.install('two', { ...FAILS, DEL: { stderr: 'cannot', exitCode: 1 } });
  const list = network(['one', 'two', 'three']);
  await assert.rejects(stubs.runtime().add(list, POD, { undoOnFailure: true }), /failed \(add\): no/);
  assert.deepEqual(stubs.commands(), ['ADD one', 'ADD two', 'DEL three', 'DEL two', 'DEL one']);
  assert.ok(
    stubs
      .calls()
      .slice(2)
      .every(({ stdin }) => !('prevResult' in stdin)),
  );
  assert.match(
    stubs.warnings.join(),
    /clean-up: plugin type="two" failed \(delete\): netplugin failed: "cannot"/,
  );
});

test('nothing is cleaned up when nothing has run', async () => {
  using stubs = new StubPlugins('two');
  const adding = stubs.runtime().add(network(['one', 'two']), POD, { undoOnFailure: true });
  await assert.rejects(adding, /failed to find plugin "one"/);
  assert.deepEqual({ commands: stubs.commands(), warnings: stubs.warnings }, { commands: [], warnings: [] });
});

test('the clean-up does not say again what made ADD fail', async () => {
  using stubs = new StubPlugins('one');
  stubs.install('two', { ...FAILS, DEL: { stderr: 'no; going on without it' } });
  const heard: string[] = [];
  const runtime = stubs.runtime({ onStderr: (text) => heard.push(text) });
  await assert.rejects(runtime.add(network(['one', 'two']), POD, { undoOnFailure: true }), /no$/);
  const missing = network(['one', 'three']);
  await assert.rejects(runtime.add(missing, POD, { undoOnFailure: true }), /failed to find plugin "three"/);
  assert.deepEqual(stubs.commands(), ['ADD one', 'ADD two', 'DEL two', 'DEL one', 'ADD one', 'DEL one']);
  assert.deepEqual({ heard, warnings: stubs.warnings }, { heard: [], warnings: [] });
});

test('a second ADD that fails does not take down what the first one made', async () => {
  using stubs = new StubPlugins('one');
  const runtime = stubs.runtime();
  await runtime.add(network(['one']), POD);
  stubs.install('one', FAILS);
  await assert.rejects(runtime.add(network(['one']), POD, { undoOnFailure: true }));
  assert.deepEqual(stubs.commands(), ['ADD one', 'ADD one']);
  assert.match(stubs.warnings.join(), /not cleaned up, because an earlier add of it was never deleted/);
});

test('an ADD that is aborted kills the plugin, and the clean-up still runs', async () => {
  using stubs = new StubPlugins('one');
  stubs.install('slow', { ADD: { script: 'sleep 600' } });
  const running = stubs
    .runtime()
    .add(network(['one', 'slow']), POD, { undoOnFailure: true, signal: AbortSignal.timeout(100) });
  await assert.rejects(running, /plugin type="slow" failed \(add\): netplugin failed with no error message/);
  assert.deepEqual(stubs.commands().slice(-2), ['DEL slow', 'DEL one']);
});

test('a cache that cannot be written fails ADD, and then everything is undone', async () => {
  using stubs = new StubPlugins('one');
  writeFileSync(join(stubs.root, 'file'), '');
  const runtime = stubs.runtime({ cacheDir: join(stubs.root, 'file') });
  const running = runtime.add(network(['one']), POD, { undoOnFailure: true });
  await assert.rejects(running, /failed to set network "net" cached result: mkdir .*: not a directory/);
  assert.deepEqual(stubs.commands(), ['ADD one', 'DEL one']);
});

test('cni#679: names that would lead out of their directories are refused before anything runs', async () => {
  using stubs = new StubPlugins('one');
  const runtime = stubs.runtime();
  const list = network(['one']);
  const refused: readonly (readonly [Promise<unknown>, number, string])[] = [
    [
      runtime.add(network(['one'], { name: '../../tmp/x' }), POD),
      7,
      'invalid characters found in network name',
    ],
    [runtime.add(network(['one'], { name: '' }), POD), 7, 'missing network name'],
    [runtime.add(list, { ...POD, containerID: 'a/b' }), 4, 'invalid characters in containerID'],
    [runtime.add(list, { ...POD, containerID: '' }), 3, 'missing containerID'],
    [runtime.add(list, { ...POD, ifName: '' }), 4, 'interface name is empty'],
    [runtime.add(list, { ...POD, ifName: 'sixteen-letters-' }), 4, 'interface name is too long'],
    [runtime.add(list, { ...POD, ifName: '.' }), 4, 'interface name is . or ..'],
    ...['eth/0', 'a b', 'a:b'].map(
      (ifName) =>
        [
          runtime.add(list, { ...POD, ifName }),
          4,
          'interface name contains / or : or whitespace characters',
        ] as const,
    ),
    [runtime.del(list, { ...POD, containerID: '../x' }), 4, 'invalid characters in containerID'],
    [
      runtime.check(list, { ...POD, ifName: '../x' }),
      4,
      'interface name contains / or : or whitespace characters',
    ],
  ];
  for (const [running, cniCode, msg] of refused) await assert.rejects(running, { cniCode, msg });
  assert.deepEqual(stubs.calls(), []);
  assert.deepEqual(readdirSync(stubs.root), ['bin', 'log']);
});

test("cni#895: a result without a version has the configuration's, also for the next plugin", async () => {
  using stubs = new StubPlugins('two');
  stubs.install('one', { ADD: { stdout: '{"ips":[{"version":"4","address":"192.0.2.5/24"}]}' } });
  stubs.install('two', {
    ADD: { stdout: '{"cniVersion":"","ips":[{"version":"4","address":"192.0.2.6/24"}]}' },
  });
  const result = await stubs.runtime().add(network(['one', 'two'], { cniVersion: '0.3.1' }), POD);
  assert.deepEqual(result, { cniVersion: '0.3.1', ips: [{ address: '192.0.2.6/24', version: '4' }] });
  assert.deepEqual(stubs.calls()[1]?.stdin['prevResult'], {
    cniVersion: '0.3.1',
    ips: [{ version: '4', address: '192.0.2.5/24' }],
    dns: {},
  });
});

test('a result of an unknown version is refused', async () => {
  using stubs = new StubPlugins();
  stubs.install('one', { ADD: { stdout: '{"cniVersion":"9.9.9"}' } });
  const message = 'plugin type="one" failed (add): unsupported CNI result version "9.9.9"';
  await assert.rejects(stubs.runtime().add(network(['one']), POD), { message });
});

for (const printed of ['null', '[]', '""', '42', '']) {
  test(`cni#904: a plugin that prints ${printed || 'nothing'} has given no result, and what was set up is undone`, async () => {
    using stubs = new StubPlugins('first');
    const path = stubs.install('odd', { ADD: { stdout: printed } });
    await assert.rejects(
      stubs.runtime().add(network(['first', 'odd']), POD, { undoOnFailure: true }),
      (error) => {
        assert.ok(error instanceof CniError);
        assert.ok(
          error.message.startsWith(`plugin type="odd" failed (add): plugin "odd" (${path}): `),
          error.message,
        );
        assert.ok(
          error.message.endsWith(printed === '' ? 'printed no result' : `: ${JSON.stringify(printed)}`),
        );
        return true;
      },
    );
    assert.deepEqual(stubs.commands().slice(-2), ['DEL odd', 'DEL first']);
  });
}

test('cni#904: the empty object is a result', async () => {
  using stubs = new StubPlugins();
  stubs.install('one', { ADD: { stdout: '{}' } });
  assert.deepEqual(await stubs.runtime().add(network(['one']), POD), { cniVersion: '1.1.0' });
});

test('cni#571: noise before a good result fails ADD, and is quoted', async () => {
  using stubs = new StubPlugins();
  stubs.install('one', { ADD: { stdout: 'level=info hello\n{"cniVersion":"1.0.0"}' } });
  await assert.rejects(
    stubs.runtime().add(network(['one']), POD),
    /what it printed is no JSON: .*"level=info hello\\n/,
  );
});

test('what a plugin writes to stderr is passed on when it succeeds', async () => {
  using stubs = new StubPlugins();
  stubs.install('one', { ADD: { stdout: '{}', stderr: 'note' } });
  const heard: unknown[] = [];
  await stubs.runtime({ onStderr: (...what) => heard.push(what) }).add(network(['one']), POD);
  assert.deepEqual(heard, [['note', { type: 'one', command: 'ADD' }]]);
});

test('podman#21511: with validateFirst a version that a plugin does not speak fails before any plugin adds', async () => {
  using stubs = new StubPlugins();
  const upTo = (version: string) => {
    const all = ['0.3.0', '0.3.1', '0.4.0', '1.0.0'];
    const supportedVersions = all.slice(0, all.indexOf(version) + 1);
    return { VERSION: { stdout: JSON.stringify({ cniVersion: version, supportedVersions }) } };
  };
  const bridge = stubs.install('bridge', upTo('0.4.0'));
  const portmap = stubs.install('portmap', upTo('0.3.1'));
  stubs.install('firewall', upTo('1.0.0'));
  const list = network(['bridge', 'portmap', 'firewall'], { cniVersion: '1.0.0' });
  await assert.rejects(stubs.runtime().add(list, POD, { validateFirst: true }), (error) => {
    assert.ok(error instanceof CniError);
    assert.equal(error.cniCode, 1);
    assert.equal(
      error.msg,
      '[plugin bridge does not support config version "1.0.0" plugin portmap does not support config version "1.0.0"]',
    );
    assert.equal(
      error.cniDetails,
      `${bridge} supports [0.3.0 0.3.1 0.4.0]; ${portmap} supports [0.3.0 0.3.1]; ` +
        'the highest version that all plugins support is 0.3.1',
    );
    return true;
  });
  assert.deepEqual(stubs.commands(), ['VERSION bridge', 'VERSION portmap', 'VERSION firewall']);
});

test('what ADD was called with can be read back, in its own bytes', async () => {
  using stubs = new StubPlugins('one');
  const list = network(['one']);
  const runtime = stubs.runtime();
  const args = [['A', 'b']] as const;
  const capabilityArgs = { portMappings: [{ hostPort: 80 }] };
  await runtime.add(list, { ...POD, args, capabilityArgs });
  const bytes = Buffer.from(list.bytes);
  const { network: cached, ...rest } = runtime.cachedConfig('net', POD) ?? {};
  assert.deepEqual(rest, { bytes, netns: POD.netns, args, capabilityArgs });
  assert.deepEqual(cached, { ...list, bytes });
  assert.deepEqual(runtime.cachedResult(list, POD), {
    cniVersion: '1.1.0',
    ips: [{ address: '192.0.2.5/24' }],
  });
  assert.equal(runtime.cachedConfig('net', { ...POD, ifName: 'eth1' }), undefined);
  assert.equal(runtime.cachedResult(list, { ...POD, ifName: 'eth1' }), undefined);
});
