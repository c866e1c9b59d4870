/** Reports about host-local and static: who gets which address, and when it comes back. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject, Result } from '@heddle/cni';
import type { Pod } from '../support/node.ts';
import { CaseNode } from './case-node.ts';

const DUAL = [[{ subnet: '192.0.2.0/24' }], [{ subnet: '2001:db8::/64' }]];

function bridgeWith(ipam: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'bridge', bridge: 'hdcase0', ...more, ipam: { type: 'host-local', ...ipam } };
}

/** The configuration for a call of an address management plugin by itself. */
function ipamOf(node: CaseNode, ipam: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    cniVersion: '1.1.0',
    name: 'br',
    type: 'bridge',
    ...more,
    ipam: { dataDir: node.dataDir, ...ipam },
  };
}

/** The addresses that are reserved on a network. */
function reserved(node: CaseNode, network = 'br'): readonly string[] {
  return readdirSync(join(node.dataDir, network))
    .filter((name) => /^[0-9a-f:.]+$/.test(name))
    .toSorted();
}

function addressesIn({ ips = [] }: Pick<Result, 'ips'>): readonly string[] {
  return ips.map(({ address }) => address);
}

test('containernetworking/plugins#252: a range full of what a reboot left says so, and GC frees it', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const range = { subnet: '192.0.2.0/24', rangeStart: '192.0.2.2', rangeEnd: '192.0.2.3' };
  const network = node.list('hdreboot', [bridgeWith(range)]);
  const directory = join(node.dataDir, 'hdreboot');
  mkdirSync(directory, { recursive: true });
  for (const host of [2, 3]) writeFileSync(join(directory, `192.0.2.${host}`), `gone${host}\r\neth0`);
  // The plugin looks for attachments where runtimes keep them by default.
  mkdirSync('/var/lib/cni/results', { recursive: true });

  await assert.rejects(node.cni.add(network, pod.attachment), (error: Error) => {
    assert.match(
      error.message,
      /no IP addresses available in range set: 192\.0\.2\.2-192\.0\.2\.3: 2 of 2 in use/,
    );
    assert.match(error.message, /2 of them for no attachment that \/var\/lib\/cni knows \(GC frees those\)/);
    return true;
  });
  const { stdout } = node.heddle('ls', ['--stale', 'hdreboot']);
  for (const host of [2, 3])
    assert.match(stdout, new RegExp(`^hdreboot +gone${host} +eth0 +192\\.0\\.2\\.${host} .*untracked$`, 'm'));
  assert.deepEqual(reserved(node, 'hdreboot'), ['192.0.2.2', '192.0.2.3']);

  await node.cni.gc(network, []);
  assert.deepEqual(reserved(node, 'hdreboot'), []);
  assert.equal(addressesIn(await node.cni.add(network, pod.attachment)).length, 1);
  await node.cni.del(network, pod.attachment);
  assert.deepEqual(reserved(node, 'hdreboot'), []);
});

test('containernetworking/plugins#498: a reservation that names nobody is taken back, and that is told', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const network = node.list('br', [
    bridgeWith({ subnet: '192.0.2.0/24', rangeStart: '192.0.2.2', rangeEnd: '192.0.2.2' }),
  ]);
  mkdirSync(join(node.dataDir, 'br'), { recursive: true });
  writeFileSync(join(node.dataDir, 'br', '192.0.2.2'), '');
  assert.deepEqual(addressesIn(await node.cni.add(network, pod.attachment)), ['192.0.2.2/24']);
  assert.match(node.said.join(''), /reclaimed 192\.0\.2\.2/);
  assert.equal(readFileSync(join(node.dataDir, 'br', '192.0.2.2'), 'utf8'), 'c1\r\neth0');
});

test('containernetworking/plugins#498: a full disk leaves no reservations, and ADD works when there is space again', () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  mkdirSync(node.dataDir);
  node.run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', node.dataDir);
  try {
    const call = {
      command: 'ADD',
      config: ipamOf(node, { type: 'host-local', subnet: '192.0.2.0/24' }),
      pod,
    } as const;
    const ballast = join(node.dataDir, 'ballast');
    fill(ballast);
    for (let time = 0; time < 10; time++) {
      const { status, stdout } = node.call('host-local', call);
      assert.equal(status, 1);
      assert.match(JSON.parse(stdout).msg, /ENOSPC/);
    }
    rmSync(ballast);
    const { status, stdout } = node.call('host-local', call);
    assert.equal(status, 0, stdout);
    assert.deepEqual(reserved(node), ['192.0.2.2']);
  } finally {
    node.run('umount', node.dataDir);
  }
});

for (const [bounds, problem] of [
  [{ rangeStart: '192.0.2.255', rangeEnd: '192.0.2.255' }, /RangeStart .*192\.0\.2\.255/],
  [{ rangeStart: '192.0.2.0' }, /RangeStart .*192\.0\.2\.0/],
  [{ rangeStart: '192.0.2.255' }, /RangeStart .*192\.0\.2\.255/],
  [
    { rangeStart: '192.0.2.20', rangeEnd: '192.0.2.10' },
    /RangeStart 192\.0\.2\.20 .*it comes after the range's end 192\.0\.2\.10/,
  ],
] as const) {
  test(`containernetworking/plugins#1295: bounds that hold no host are refused: ${JSON.stringify(bounds)}`, () => {
    using node = new CaseNode();
    using pod = node.pod('c1');
    const config = ipamOf(node, { type: 'host-local', subnet: '192.0.2.0/24', ...bounds });
    const { status, stdout } = node.call('host-local', { command: 'ADD', config, pod });
    assert.equal(status, 1);
    const { code, msg, details } = JSON.parse(stdout);
    assert.equal(code, 7);
    assert.match(`${msg}; ${details}`, problem);
    assert.equal(existsSync(node.dataDir), false);
  });
}

for (const [subnet, gateway, dst] of [
  ['2001:db8:5:333::/64', '2001:db8:5::1', '::/0'],
  ['2001:db8:5:333::/64', 'fe80::1', '::/0'],
  ['192.0.2.0/24', '198.51.100.1', '0.0.0.0/0'],
] as const) {
  test(`containernetworking/plugins#233: ${gateway} is a gateway outside of ${subnet}`, async () => {
    using node = new CaseNode();
    using pod = node.pod('c1');
    const network = node.list('br', [bridgeWith({ subnet, gateway, routes: [{ dst }] })]);
    const before = await node.settled(network);
    const [address = ''] = addressesIn(await node.cni.add(network, pod.attachment));
    const family = subnet.includes(':') ? '-6' : '-4';
    assert.ok(address.endsWith(subnet.slice(subnet.indexOf('/'))));
    assert.ok(pod.run('ip', family, '-o', 'address', 'show', 'dev', 'eth0').includes(address));
    assert.match(
      pod.run('ip', family, 'route', 'show', 'default'),
      new RegExp(`^default via ${gateway} dev eth0`),
    );
    // The kernel knows a way to the far side, by way of the gateway.
    assert.match(
      pod.run('ip', family, 'route', 'get', family === '-6' ? '2001:db8:9::9' : '203.0.113.9'),
      new RegExp(`via ${gateway} `),
    );
    await node.cni.check(network, pod.attachment);
    await node.cni.del(network, pod.attachment);
    node.assertClean(before);
  });
}

const STATIC = { type: 'static', addresses: [{ address: '192.0.2.1/24', gateway: '192.0.2.254' }] };
for (const [what, request, ips] of [
  ['IP=192.0.2.100', { args: 'IP=192.0.2.100' }, [['192.0.2.100/24', '192.0.2.254']]],
  ['the capability ips 192.0.2.100', { ips: ['192.0.2.100'] }, [['192.0.2.100/24', '192.0.2.254']]],
  ['the capability ips 192.0.2.100/24', { ips: ['192.0.2.100/24'] }, [['192.0.2.100/24', undefined]]],
  [
    'an address of each family',
    { ips: ['192.0.2.100', '2001:db8::100/64'] },
    [
      ['192.0.2.100/24', '192.0.2.254'],
      ['2001:db8::100/64', undefined],
    ],
  ],
] as const) {
  test(`podman-container-tools/podman#17955: static takes the place of what is configured by ${what}`, () => {
    using node = new CaseNode();
    using pod = node.pod('c1');
    const { status, stdout } = callStatic(node, pod, request);
    assert.equal(status, 0, stdout);
    const result = JSON.parse(stdout) as Result;
    assert.deepEqual(
      result.ips?.map(({ address, gateway }) => [address, gateway]),
      ips,
    );
  });
}

for (const [what, request, problem] of [
  ['no address', { args: 'IP=not-an-ip' }, /expected to be in CIDR notation, got: 'not-an-ip'/],
  [
    'in no configured subnet',
    { args: 'IP=198.51.100.7' },
    /give the prefix length, as in 198\.51\.100\.7\/24/,
  ],
] as const) {
  test(`podman-container-tools/podman#17955: static refuses an address that is ${what}`, () => {
    using node = new CaseNode();
    using pod = node.pod('c1');
    const { status, stdout } = callStatic(node, pod, request);
    assert.equal(status, 1);
    assert.match(stdout, problem);
  });
}

for (const type of ['bridge', 'ptp']) {
  test(`containernetworking/plugins#327: a second ADD of one interface by ${type} fails, and takes and gives back nothing`, async () => {
    using node = new CaseNode();
    using pod = node.pod('c1');
    const network = node.list('br', [{ type, ipam: { type: 'host-local', ranges: DUAL } }]);
    const before = await node.settled(network);
    const held = addressesIn(await node.cni.add(network, pod.attachment));
    assert.equal(held.length, 2);
    const attached = node.state();
    await assert.rejects(
      node.cni.add(network, pod.attachment, { undoOnFailure: true }),
      /\("eth0"\) .* already exists/,
    );
    node.assertClean(attached);
    assert.ok(pod.run('ip', '-o', 'address', 'show', 'dev', 'eth0').includes(held[0] ?? ''));

    // Address management by itself names what is held.
    const config = ipamOf(node, { type: 'host-local', ranges: DUAL });
    const refused = node.call('host-local', { command: 'ADD', config, pod });
    const [address] = (held[0] ?? '').split('/');
    assert.ok(JSON.parse(refused.stdout).msg.includes(`${address} has been allocated to c1`));
    node.assertClean(attached);

    const other = { ...pod.attachment, ifName: 'eth1' };
    assert.equal(addressesIn(await node.cni.add(network, other)).length, 2);
    assert.equal(reserved(node).length, 4);
    await node.cni.del(network, pod.attachment);
    await node.cni.add(network, pod.attachment);
    assert.equal(reserved(node).length, 4);
    for (const attachment of [pod.attachment, other]) await node.cni.del(network, attachment);
    node.assertClean(before);
  });
}

test('containernetworking/plugins#327: an address that is held in one range set only is found, and no other is taken', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const network = node.list('br', [bridgeWith({ ranges: DUAL })]);
  const before = await node.settled(network);
  writeFileSync(join(node.dataDir, 'br', '2001:db8::9'), 'c1\r\neth0');
  await assert.rejects(node.cni.add(network, pod.attachment), /2001:db8::9 has been allocated to c1/);
  assert.deepEqual(reserved(node), ['2001:db8::9']);
  await node.cni.del(network, pod.attachment);
  node.assertClean(before);
});

function callStatic(
  node: CaseNode,
  pod: Pod,
  { args = '', ips }: { args?: string; ips?: readonly string[] },
) {
  const runtimeConfig = ips === undefined ? {} : { runtimeConfig: { ips } };
  return node.call('static', { command: 'ADD', config: ipamOf(node, STATIC, runtimeConfig), pod, args });
}

/** Writes until the file system is full, to the last byte. */
function fill(path: string): void {
  for (let size = 4096; size >= 1; ) {
    try {
      writeFileSync(path, new Uint8Array(size), { flag: 'a' });
    } catch {
      size = Math.floor(size / 2);
    }
  }
}
