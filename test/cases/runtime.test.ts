/** Reports about what a runtime does with plugins, their results, and what it remembers. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type JsonObject, PluginError, parseNetworkList } from '@heddle/cni';
import { CaseNode, PASS_ON, print, validOf } from './case-node.ts';

const bridge: JsonObject = {
  type: 'bridge',
  bridge: 'hdcase0',
  isGateway: true,
  ipam: { type: 'host-local', ranges: [[{ subnet: '192.0.2.0/24' }], [{ subnet: '2001:db8::/64' }]] },
};
const address = print({ ips: [{ address: '192.0.2.5/24' }] });

for (const [what, damage] of [
  ['truncated', (path: string) => writeFileSync(path, '')],
  ['cut in half', (path: string) => writeFileSync(path, '{"kind":"cniCacheV1","containerId":"c1","con')],
  [
    'a directory',
    (path: string) => {
      rmSync(path);
      mkdirSync(path);
    },
  ],
] as const) {
  test(`containernetworking/cni#1055: a cached result that is ${what} does not block DEL`, async () => {
    using node = new CaseNode();
    using pod = node.pod('c1');
    const network = node.list('br', [bridge, { type: 'last' }]);
    node.stub('last', { ADD: PASS_ON });
    const before = await node.settled(network);
    await node.cni.add(network, pod.attachment);
    const entry = join(node.cacheDir, 'results', 'br-c1-eth0');
    damage(entry);

    node.stub('last', { DEL: `${print({ code: 11, msg: 'not yet' })}; exit 1` });
    await assert.rejects(node.cni.del(network, pod.attachment), /not yet/);
    node.stub('last');
    await node.cni.del(network, pod.attachment);
    assert.equal('prevResult' in node.stdinOf('last', 'DEL'), false);
    assert.equal(existsSync(entry), false);
    node.assertClean(before);
  });
}

test('containernetworking/cni#1055: a single plugin is deleted without its cached result too', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  node.stub('only', { ADD: address });
  const [network] = node.list('n', [{ type: 'only' }]).plugins;
  assert.ok(network !== undefined);
  const single = { ...network, name: 'n', cniVersion: '1.1.0' };
  await node.cni.add(single, pod.attachment);
  const entry = join(node.cacheDir, 'results', 'n-c1-eth0');
  writeFileSync(entry, '');
  await node.cni.del(single, pod.attachment);
  assert.equal(node.calls().at(-1), 'DEL only c1');
  assert.equal(existsSync(entry), false);
});

test('containernetworking/cni#895: a result without a version has the version of the network', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const result = { ips: [{ version: '4', address: '192.0.2.5/24' }] };
  node.stub('main', { ADD: print(result) });
  node.stub('chained', { ADD: print(result) });
  const network = node.list('n', [{ type: 'main' }, { type: 'chained' }], { cniVersion: '0.3.1' });
  const { cniVersion, ips } = await node.cni.add(network, pod.attachment);
  assert.equal(cniVersion, '0.3.1');
  assert.deepEqual(
    ips?.map(({ address }) => address),
    ['192.0.2.5/24'],
  );
  assert.deepEqual(node.stdinOf('chained', 'ADD')['prevResult'], { cniVersion: '0.3.1', ...result, dns: {} });
});

for (const output of ['null', '[]', '""', '42']) {
  test(`containernetworking/cni#904: a plugin that prints ${output} is named, and what ran before it is deleted`, async () => {
    using node = new CaseNode();
    using pod = node.pod('c1');
    const path = node.stub('odd', { ADD: print(output) });
    const network = node.list('br', [bridge, { type: 'odd' }]);
    node.stub('odd', { ADD: PASS_ON });
    const before = await node.settled(network);
    node.stub('odd', { ADD: print(output) });

    const added = node.cni.add(network, pod.attachment, { undoOnFailure: true });
    await assert.rejects(added, (error: Error) => {
      assert.ok(error.message.includes(`plugin "odd" (${path}): what it printed is no result object`));
      assert.ok(error.message.includes(JSON.stringify(output)), error.message);
      return true;
    });
    node.assertClean(before);
  });
}

test('containernetworking/cni#904: a plugin that prints {} gives an empty result', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  node.stub('odd', { ADD: print('{}') });
  assert.deepEqual(await node.cni.add(node.list('n', [{ type: 'odd' }]), pod.attachment), {
    cniVersion: '1.1.0',
  });
});

for (const [what, name, attachment, refusal] of [
  [
    'network name ../../tmp/x',
    '../../tmp/x',
    {},
    /invalid characters found in network name; \.\.\/\.\.\/tmp\/x/,
  ],
  ['container ID a/b', 'n', { containerID: 'a/b' }, /invalid characters in containerID; a\/b/],
  ['container ID that is empty', 'n', { containerID: '' }, /missing containerID/],
  ['interface name of 16 characters', 'n', { ifName: 'abcdefghijklmnop' }, /interface name is too long/],
  ['interface name eth/0', 'n', { ifName: 'eth/0' }, /interface name contains \/ or :/],
  ['interface name .', 'n', { ifName: '.' }, /interface name is \. or \.\./],
  ['interface name "a b"', 'n', { ifName: 'a b' }, /interface name contains .* whitespace/],
  ['interface name a:b', 'n', { ifName: 'a:b' }, /interface name contains \/ or :/],
] as const) {
  test(`containernetworking/cni#679: ${what} is refused before anything is touched`, async () => {
    using node = new CaseNode();
    using pod = node.pod('c1', attachment);
    node.stub('main', { ADD: address });
    const text = JSON.stringify({ cniVersion: '1.1.0', name, plugins: [{ type: 'main' }] });
    const before = readdirSync(node.directory, { recursive: true });
    await assert.rejects(async () => {
      await node.cni.add(parseNetworkList(new TextEncoder().encode(text)), pod.attachment);
    }, refusal);
    assert.deepEqual(readdirSync(node.directory, { recursive: true }), before);

    // The plugins do not rely on the runtime.
    const config = {
      cniVersion: '1.1.0',
      name,
      type: 'bridge',
      ipam: { type: 'host-local', subnet: '192.0.2.0/24' },
    };
    const { status, stdout } = node.call('bridge', { command: 'ADD', config, pod });
    assert.equal(status, 1);
    assert.match(
      `${JSON.parse(stdout).msg}; ${JSON.parse(stdout).details}`,
      what.endsWith('empty') ? /CNI_CONTAINERID/ : refusal,
    );
    assert.deepEqual(readdirSync(node.directory, { recursive: true }), before);
  });
}

test('containernetworking/cni#571: of a result and an error on stdout, the error is told', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const error = print({ code: 100, msg: 'pool empty' });
  node.stub('main', { ADD: `${print({ cniVersion: '0.3.1', ips: [] })}; ${error}; exit 1` });
  const network = node.list('n', [{ type: 'main' }], { cniVersion: '0.3.1' });
  await assert.rejects(node.cni.add(network, pod.attachment), (error: Error) => {
    assert.match(error.message, /plugin type="main" failed \(add\): pool empty/);
    assert.ok(error.cause instanceof PluginError);
    assert.equal(error.cause.cniCode, 100);
    return true;
  });
});

test('containernetworking/cni#571: log lines before a result fail ADD and are quoted', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const path = node.stub('main', { ADD: `echo level=info hello; ${address}` });
  await assert.rejects(node.cni.add(node.list('n', [{ type: 'main' }]), pod.attachment), (error: Error) => {
    assert.ok(error.message.includes(`plugin "main" (${path}): what it printed is no JSON`));
    assert.ok(error.message.includes('"level=info hello\\n'), error.message);
    return true;
  });
});

test('containernetworking/cni#1101: GC sends both keys, and takes either; without any it deletes nothing', async () => {
  using node = new CaseNode();
  using kept = node.pod('c1');
  using gone = node.pod('c2');
  // A fresh node has no cache yet.
  await node.cni.gc(node.list('fresh', [bridge]), []);

  const network = node.list('br', [bridge, { type: 'last' }]);
  node.stub('last', { ADD: PASS_ON });
  const before = await node.settled(network);
  for (const { attachment } of [kept, gone]) await node.cni.add(network, attachment);
  await node.cni.gc(network, [validOf(kept)]);
  const { 'cni.dev/valid-attachments': valid, 'cni.dev/attachments': also } = node.stdinOf('last', 'GC');
  assert.deepEqual([valid, also], [[validOf(kept)], [validOf(kept)]]);
  assert.ok(kept.pings('192.0.2.1'));
  assert.equal(node.run('ip', '-o', 'link', 'show', 'master', 'hdcase0').trim().split('\n').length, 1);

  const config = { cniVersion: '1.1.0', name: 'br', ...network.plugins[0]?.raw };
  const collect = (keys: JsonObject) =>
    node.call('bridge', { command: 'GC', config: { ...config, ...keys } });
  const attached = node.state();
  const refused = collect({});
  assert.equal(refused.status, 1);
  assert.match(JSON.parse(refused.stdout).msg, /GC needs the key .*; nothing was changed/);
  for (const key of ['cni.dev/valid-attachments', 'cni.dev/attachments']) {
    assert.equal(collect({ [key]: [validOf(kept) as unknown as JsonObject] }).status, 0);
  }
  node.assertClean(attached);
  assert.equal(collect({ 'cni.dev/valid-attachments': [] }).status, 0);
  await node.cni.gc(network, []);
  node.assertClean(before);
});

test('containernetworking/plugins#1282: a plugin that fails DEL keeps no other from its work, and can be tried again', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const network = node.list('br', [
    bridge,
    { type: 'portmap', capabilities: { portMappings: true } },
    { type: 'last' },
  ]);
  node.stub('last', { ADD: PASS_ON });
  const capabilityArgs = { portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }] };
  const before = await node.settled(network, { capabilityArgs });
  await node.cni.add(network, { ...pod.attachment, capabilityArgs });
  node.stub('last', { DEL: `${print({ code: 999, msg: 'no such device' })}; exit 1` });

  await assert.rejects(
    node.cni.del(network, pod.attachment),
    /plugin type="last" failed \(delete\): no such device/,
  );
  assert.deepEqual(
    readdirSync(node.dataDir, { recursive: true }).filter((name) => /br\/[0-9a-f.:]+$/.test(String(name))),
    [],
  );
  assert.equal(node.run('ip', '-o', 'link', 'show', 'master', 'hdcase0'), '');
  assert.doesNotMatch(node.ruleset, /8080/);
  assert.deepEqual(
    node.cni.attachments().map(({ containerID }) => containerID),
    ['c1'],
  );

  node.stub('last');
  await node.cni.del(network, pod.attachment);
  node.assertClean(before);
});
