/** Reports about bridge, and about what all plugins that make an interface have in common. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject, NetworkConfigList, Result } from '@heddle/cni';
import { Addr } from '@heddle/netaddr';
import { UdpEndpoint } from '@heddle/plugins/testing';
import type { Pod } from '../support/node.ts';
import { CaseNode, print } from './case-node.ts';

const V4 = [{ subnet: '192.0.2.0/24' }];
const V6 = [{ subnet: '2001:db8::/64' }];

/** A plugin that makes an interface, with host-local on these ranges. */
function main(type: string, ranges: readonly (readonly JsonObject[])[], more: JsonObject = {}): JsonObject {
  const own: Readonly<Record<string, JsonObject>> = {
    bridge: { bridge: 'hdcase0', isGateway: true, ipMasq: true },
    ptp: { ipMasq: true },
    macvlan: { master: 'hdup0' },
    'host-device': { device: 'hdup0' },
  };
  return { type, ...own[type], ...more, ipam: { type: 'host-local', ranges } };
}

/** Gives the node a link that leads outside, for plugins that need one. */
function uplink(node: CaseNode): void {
  node.run('ip link add hdup0 type veth peer name hdup1');
  for (const link of ['hdup0', 'hdup1']) node.run('ip', 'link', 'set', link, 'up');
}

function veths(node: CaseNode): number {
  return node.json('ip', '-j', 'link', 'show', 'type', 'veth').length;
}

for (const type of ['bridge', 'ptp', 'macvlan']) {
  test(`containernetworking/plugins#29: an ADD by ${type} that gets no address leaves no interface`, async () => {
    using node = new CaseNode();
    uplink(node);
    const range = { ...V4[0], rangeStart: '192.0.2.2', rangeEnd: '192.0.2.2' };
    const network = node.list('br', [main(type, [[range]])]);
    using first = node.pod('c1');
    using second = node.pod('c2');
    const before = await node.settled(network);
    await node.cni.add(network, first.attachment);
    const full = node.state();
    const links = veths(node);
    for (let time = 0; time < 5; time++) {
      await assert.rejects(node.cni.add(network, second.attachment), /no IP addresses available/);
      assert.equal(veths(node), links);
    }
    assert.deepEqual(linksIn(second), ['lo']);
    node.assertClean(full);
    await node.cni.del(network, first.attachment);
    node.assertClean(before);
  });
}

test('containernetworking/plugins#29: after a chained plugin has failed, DEL leaves no interface and no address', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const network = node.list('br', [main('bridge', [V4]), { type: 'last' }]);
  const before = await node.settled(node.list('br', [main('bridge', [V4])]));
  node.stub('last', { ADD: `${print({ code: 100, msg: 'no' })}; exit 1` });
  await assert.rejects(node.cni.add(network, pod.attachment), /plugin type="last" failed \(add\): no/);
  await node.cni.del(network, pod.attachment);
  assert.deepEqual(linksIn(pod), ['lo']);
  node.assertClean(before);
});

test('containernetworking/cni#285: the hardware address of the bridge stays, whatever comes and goes', async () => {
  using node = new CaseNode();
  const network = node.list('br', [main('bridge', [V4])]);
  const lowest = '00:00:5e:00:53:01';
  const macOf = (bridge: string) =>
    node.json<{ address: string }>('ip', '-j', 'link', 'show', bridge)[0]?.address;
  using pinger = node.pod('pinger');
  await node.cni.add(network, pinger.attachment);
  const mac = macOf('hdcase0');

  const pods = ['c1', 'c2', 'c3', 'c4', 'c5'].map((id) => node.pod(id));
  for (const pod of pods) {
    const { interfaces = [] } = await node.cni.add(network, pod.attachment);
    if (pod.attachment.containerID === 'c3')
      node.run('ip', 'link', 'set', interfaces[1]?.name ?? '', 'address', lowest);
    assert.equal(macOf('hdcase0'), mac);
    assert.ok(pinger.pings('192.0.2.1'));
  }
  for (const index of [3, 0, 2, 4, 1]) {
    const pod = pods[index] as Pod;
    await node.cni.del(network, pod.attachment);
    pod[Symbol.dispose]();
    assert.equal(macOf('hdcase0'), mac);
    assert.ok(pinger.pings('192.0.2.1'));
  }
});

test('containernetworking/cni#285: so does that of a layer 2 bridge; one that was there before is not touched', async () => {
  using node = new CaseNode();
  node.run('ip link add hdcase1 address 02:00:00:00:00:aa type bridge');
  for (const [bridge, lasting] of [
    ['hdcase0', undefined],
    ['hdcase1', '02:00:00:00:00:aa'],
  ] as const) {
    const network = node.list('l2', [{ type: 'bridge', bridge }]);
    const macOf = () => node.json<{ address: string }>('ip', '-j', 'link', 'show', bridge)[0]?.address;
    using first = node.pod('c1');
    using second = node.pod('c2');
    await node.cni.add(network, first.attachment);
    const mac = macOf();
    if (lasting !== undefined) assert.equal(mac, lasting);
    await node.cni.add(network, second.attachment);
    await node.cni.del(network, first.attachment);
    assert.equal(macOf(), mac);
    await node.cni.del(network, second.attachment);
  }
});

test('containernetworking/plugins#805: every hardware address of the result is the one in the kernel', async () => {
  using node = new CaseNode();
  const network = node.list('br', [main('bridge', [V4])]);
  for (let round = 0; round < 10; round++) {
    using pod = node.pod(`c${round}`);
    const { interfaces = [] } = await node.cni.add(network, pod.attachment);
    assert.equal(interfaces.length, 3);
    for (const { name, mac, sandbox } of interfaces) {
      const [link] = (sandbox ? pod : node).json<{ address: string }>('ip', '-j', 'link', 'show', name);
      assert.equal(mac, link?.address, name);
    }
    await node.cni.check(network, pod.attachment);
    await node.cni.del(network, pod.attachment);
  }
});

for (const type of ['bridge', 'ptp', 'macvlan', 'host-device', 'loopback']) {
  test(`containernetworking/plugins#102: ADD of IPv4 by ${type} works where the kernel has no IPv6 settings`, () => {
    using node = new CaseNode();
    uplink(node);
    using pod = node.pod('c1', type === 'loopback' ? { ifName: 'lo' } : {});
    const network = node.list('br', [main(type, [V4])]);
    const config = { cniVersion: '1.1.0', name: 'br', ...network.plugins[0]?.raw };
    const call = (command: 'ADD' | 'DEL', more: JsonObject = {}): string =>
      withoutIpv6(node, type, pod, command, { ...config, ...more });
    const result = JSON.parse(call('ADD')) as Result;
    const [link] = pod.json<{ flags: string[] }>('ip', '-j', 'link', 'show', pod.attachment.ifName);
    assert.ok(link?.flags.includes('UP'));
    if (type !== 'loopback')
      assert.match(pod.run('ip', '-4', '-o', 'address', 'show', 'dev', 'eth0'), /192\.0\.2\.2\/24/);
    call('DEL', { prevResult: result as unknown as JsonObject });
    assert.deepEqual(linksIn(pod), ['lo']);
  });
}

test('containernetworking/plugins#102: where IPv6 is off it is switched on for the interface alone, or said to be off', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  const network = node.list('br', [main('bridge', [V4, V6])]);
  const before = await node.settled(network);
  for (const scope of ['all', 'default']) pod.run('sysctl', '-qw', `net.ipv6.conf.${scope}.disable_ipv6=1`);
  await node.cni.add(network, pod.attachment);
  assert.ok(pod.pings('2001:db8::1'));
  const off = (name: string) => pod.run('sysctl', '-n', `net.ipv6.conf.${name}.disable_ipv6`).trim();
  assert.deepEqual(['all', 'default', 'eth0'].map(off), ['1', '1', '0']);
  await node.cni.del(network, pod.attachment);
  node.assertClean(before);

  using other = new CaseNode();
  using second = other.pod('c2');
  other.run('sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
  const added = other.cni.add(other.list('br', [main('bridge', [V4, V6])]), second.attachment);
  await assert.rejects(added, /2001:db8::1\/64.*IPv6 is disabled/);
  assert.deepEqual(linksIn(second), ['lo']);
  assert.equal(veths(other), 0);
  assert.deepEqual(leases(other), []);
});

test('containernetworking/plugins#680: IPv6 addresses can be used when ADD returns', async () => {
  using node = new CaseNode();
  const network = node.list('br', [main('bridge', [V4, V6])]);
  for (let round = 0; round < 10; round++) {
    using pod = node.pod(`c${round}`);
    const { ips = [] } = await node.cni.add(network, pod.attachment);
    assert.equal(pod.run('ip', '-o', 'address', 'show', 'tentative', 'scope', 'global'), '');
    const [address = ''] = (ips[1]?.address ?? '').split('/');
    using _endpoint = new UdpEndpoint(pod.handle, Addr.parse(address));
    await node.cni.del(network, pod.attachment);
  }
});

test('containernetworking/plugins#680: with enabledad an address that somebody has is a duplicate, and comes back', async () => {
  using node = new CaseNode();
  using holder = node.pod('holder');
  using pod = node.pod('c1');
  const network = node.list('br', [main('bridge', [V4, V6], { enabledad: true })]);
  const before = await node.settled(network);
  await node.cni.add(node.list('l2', [{ type: 'bridge', bridge: 'hdcase0' }]), holder.attachment);
  holder.run('ip address add 2001:db8::3/64 dev eth0 nodad');
  await assert.rejects(node.cni.add(network, pod.attachment), /2001:db8::3\/64 on eth0 is a duplicate/);
  assert.deepEqual(linksIn(pod), ['lo']);
  assert.deepEqual(leases(node), []);
  await node.cni.del(node.list('l2', [{ type: 'bridge', bridge: 'hdcase0' }]), holder.attachment);
  node.assertClean(before);
});

for (const type of ['bridge', 'ptp', 'macvlan']) {
  test(`containernetworking/cni#204: DEL by ${type} gives the address back, whatever is gone already`, async () => {
    for (let pieces = 0; pieces < 8; pieces++) {
      using node = new CaseNode();
      uplink(node);
      const network = node.list('br', [main(type, [V4, V6])]);
      const gone = ['namespace', 'host end', 'rules'].filter((_, bit) => (pieces & (1 << bit)) !== 0);
      await tearDownWithout(node, network, gone);
      assert.deepEqual(leases(node), [], `${type} without ${gone.join(', ')}`);
      assert.deepEqual(node.cni.attachments(), []);
    }
  });
}

/** ADD; takes these pieces away, as a reboot does; DEL twice. */
async function tearDownWithout(
  node: CaseNode,
  network: NetworkConfigList,
  gone: readonly string[],
): Promise<void> {
  using pod = node.pod('c1');
  const { interfaces = [] } = await node.cni.add(network, pod.attachment);
  const port = interfaces.find(({ name, sandbox }) => !sandbox && name.startsWith('veth'));
  if (gone.includes('rules')) node.run('nft flush ruleset');
  if (gone.includes('host end') && port !== undefined) node.run('ip', 'link', 'delete', port.name);
  if (gone.includes('namespace')) pod[Symbol.dispose]();
  const netns = gone.includes('namespace') ? '/run/netns/gone' : pod.attachment.netns;
  for (let time = 0; time < 2; time++) await node.cni.del(network, { ...pod.attachment, netns });
}

function linksIn(pod: Pod): readonly string[] {
  return pod.json<{ ifname: string }>('ip', '-j', 'link').map(({ ifname }) => ifname);
}

function leases(node: CaseNode): readonly string[] {
  return readdirSync(join(node.dataDir, 'br')).filter((name) => /^[0-9a-f:.]+$/.test(name));
}

/** Hides the IPv6 settings of the node and of the pod: which ones are below /proc depends on the namespace. */
const HIDE_IPV6 = `
  for netns in /proc/self/ns/net "$CNI_NETNS"; do
    nsenter --net="$netns" mount -t tmpfs none /proc/sys/net/ipv6
    test -z "$(nsenter --net="$netns" ls /proc/sys/net/ipv6)" || exit 9
  done
  exec "$0"`;

/** Runs a plugin as if the kernel had no IPv6 settings, and gives its output. */
function withoutIpv6(
  node: CaseNode,
  type: string,
  { attachment }: Pod,
  command: string,
  config: JsonObject,
): string {
  const env = {
    PATH: process.env['PATH'] ?? '',
    CNI_COMMAND: command,
    CNI_CONTAINERID: attachment.containerID,
    CNI_NETNS: attachment.netns,
    CNI_IFNAME: attachment.ifName,
    CNI_PATH: node.bin,
  };
  const { status, stdout, stderr } = node.inside(() =>
    spawnSync('unshare', ['--mount', 'sh', '-c', HIDE_IPV6, join(node.bin, type)], {
      env,
      input: JSON.stringify(config),
      encoding: 'utf8',
    }),
  );
  assert.equal(status, 0, `${command}: ${stdout}${stderr}`);
  return stdout;
}
