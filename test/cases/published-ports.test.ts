/** Reports about published ports: who is reached, and by which connections. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject, NetworkConfigList } from '@heddle/cni';
import { Addr } from '@heddle/netaddr';
import { TestNetns, UdpEndpoint } from '@heddle/plugins/testing';
import { bindNetns, runInNetns, unbindNetns } from '@heddle/sys';
import type { Pod } from '../support/node.ts';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { CaseNode, validOf } from './case-node.ts';

const NODE = '198.51.100.1';
const CLIENT = '198.51.100.7';
/** Somebody further away, by way of the client. */
const FAR = '203.0.113.53';

/** A node that publishes ports of its pods, with a client outside. */
class PublishingNode extends CaseNode {
  readonly outside = new TestNetns();
  readonly #servers: ChildProcess[] = [];

  constructor() {
    super();
    this.join(this.outside, ['hdup0', 'eth0']);
    this.run('ip', 'address', 'add', `${NODE}/24`, 'dev', 'hdup0');
    this.run('ip', 'route', 'add', `${FAR}/32`, 'via', CLIENT);
    // Neighbours that are learnt would come and go.
    const [uplink] = this.outside.json<{ address: string }>('ip', '-j', 'link', 'show', 'eth0');
    this.run(
      'ip',
      'neighbour',
      'add',
      CLIENT,
      'lladdr',
      uplink?.address ?? '',
      'nud',
      'permanent',
      'dev',
      'hdup0',
    );
    this.outside.run('ip link set lo up');
    this.outside.run('ip', 'address', 'add', `${CLIENT}/24`, 'dev', 'eth0');
    this.outside.run('ip', 'address', 'add', `${FAR}/32`, 'dev', 'lo');
    this.outside.run('ip', 'route', 'add', 'default', 'via', NODE);
  }

  /** Bridge and portmap, both families. */
  publishing(name: string, more: JsonObject = {}): NetworkConfigList {
    const ipam = {
      type: 'host-local',
      ranges: [[{ subnet: '192.0.2.0/24' }], [{ subnet: '2001:db8::/64' }]],
    };
    return this.list(name, [
      { type: 'bridge', bridge: 'hdcase0', isDefaultGateway: true, ipam },
      { type: 'portmap', capabilities: { portMappings: true }, ...more },
    ]);
  }

  /** A pod whose ports are to be published. */
  publisher(id: string, ...portMappings: readonly JsonObject[]): Pod {
    return this.pod(id, publishes(...portMappings));
  }

  /** Starts a server in a pod that tells its name to whoever connects by TCP. */
  async serve(pod: Pod, port: number): Promise<void> {
    const args = ['-e', SERVER, pod.attachment.containerID, String(port)];
    const child = runInNetns(pod.handle, () =>
      spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    this.#servers.push(child);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
  }

  /** Whom the client reaches at a port of the node; '' when nobody. */
  reached(port: number): string {
    const script = `exec 3<>/dev/tcp/${NODE}/${port} && cat <&3`;
    return runInNetns(this.outside.handle, () =>
      spawnSync('bash', ['-c', script], { encoding: 'utf8', timeout: 2000 }),
    ).stdout;
  }

  override [Symbol.dispose](): void {
    for (const server of this.#servers) server.kill('SIGKILL');
    this.outside[Symbol.dispose]();
    super[Symbol.dispose]();
  }
}

const SERVER = `
const [name, port] = process.argv.slice(1);
require('node:net').createServer((socket) => socket.end(name)).listen(Number(port), () => console.log('ready'));`;

/** Attaches a pod and gives its first address. */
async function attach(node: CaseNode, network: NetworkConfigList, pod: Pod): Promise<string> {
  const { ips = [] } = await node.cni.add(network, pod.attachment);
  return ips[0]?.address.split('/')[0] ?? '';
}

const DNS = { hostPort: 5353, containerPort: 53, protocol: 'udp' };
const WEB = { hostPort: 8080, containerPort: 80, protocol: 'tcp' };

for (const backend of ['nftables', 'iptables']) {
  test(`containernetworking/plugins#1190: after DEL the node itself gets the packets of a client that goes on sending, ${backend}`, {
    skip: missing(backend === 'iptables' ? 'iptables' : 'nft'),
  }, async () => {
    using node = new PublishingNode();
    const network = node.publishing('br', { backend });
    const before = await node.settled(network, publishes(DNS));
    using pod = node.publisher('c1', DNS);
    const address = await attach(node, network, pod);
    using client = new UdpEndpoint(node.outside.handle, Addr.parse(CLIENT), 40_000);
    using server = new UdpEndpoint(pod.handle, Addr.parse(address), 53);
    client.send('to the pod', Addr.parse(NODE), 5353);
    assert.equal((await server.receive(2000))?.text, 'to the pod');

    await node.cni.del(network, pod.attachment);
    using listener = new UdpEndpoint(node.handle, Addr.parse(NODE), 5353);
    client.send('to the node', Addr.parse(NODE), 5353);
    assert.equal((await listener.receive(2000))?.text, 'to the node');
    node.assertClean(before);
  });
}

test('moby/moby#53384: connections by the host port are forgotten, others to the container port are not', async () => {
  using node = new PublishingNode();
  const network = node.publishing('br');
  using first = node.publisher('c1', DNS);
  using second = node.publisher('c2', DNS);
  using bystander = node.pod('c3');
  await attach(node, network, first);
  const own = await attach(node, network, bystander);
  using client = new UdpEndpoint(node.outside.handle, Addr.parse(CLIENT), 40_000);
  client.send('to the first', Addr.parse(NODE), 5353);
  using far = new UdpEndpoint(node.outside.handle, Addr.parse(FAR), 53);
  using asking = new UdpEndpoint(bystander.handle, Addr.parse(own));
  asking.send('to far away', Addr.parse(FAR), 53);
  assert.equal((await far.receive(2000))?.text, 'to far away');
  const flow = () =>
    node.run('conntrack', '-L', '-p', 'udp', '--orig-dst', FAR, '-o', 'id').match(/id=\d+/)?.[0];
  const id = flow();
  assert.ok(id);

  await node.cni.del(network, first.attachment);
  const successor = await attach(node, network, second);
  using server = new UdpEndpoint(second.handle, Addr.parse(successor), 53);
  client.send('to the second', Addr.parse(NODE), 5353);
  assert.equal((await server.receive(2000))?.text, 'to the second');
  assert.equal(flow(), id);
});

for (const [backend, conditionsV4] of [
  ['nftables', ['ip', 'daddr', '!=', '192.0.2.9']],
  ['iptables', ['!', '-d', '192.0.2.9']],
] as const) {
  test(`containernetworking/plugins#1115: conditions in the words of ${backend} are taken, and so is all that comes of them`, {
    skip: missing('iptables'),
  }, async () => {
    using node = new PublishingNode();
    const network = node.publishing('br', { conditionsV4, ...(backend === 'nftables' && { backend }) });
    const before = await node.settled(network, publishes(WEB, DNS));
    using pod = node.publisher('c1', WEB, DNS);
    await attach(node, network, pod);
    await node.serve(pod, 80);
    assert.equal(node.reached(8080), 'c1');
    await node.cni.check(network, pod.attachment);
    if (backend === 'nftables') {
      const input = node.ruleset;
      const { status, stderr } = node.inside(() =>
        spawnSync('nft', ['-c', '-f', '-'], { input, encoding: 'utf8' }),
      );
      assert.equal(status, 0, stderr);
      assert.match(input, /ip daddr != 192\.0\.2\.9/);
    } else {
      assert.match(node.run('iptables', '-t', 'nat', '-S'), /! -d 192\.0\.2\.9/);
    }
    await node.cni.del(network, pod.attachment);
    node.assertClean(before);
  });
}

test('containernetworking/plugins#752: a network that was renamed since ADD leaves no mapping', async () => {
  using node = new PublishingNode();
  using first = node.publisher('c1', WEB);
  using second = node.publisher('c2', WEB);
  await attach(node, node.publishing('A'), first);
  const renamed = node.publishing('B');
  await node.cni.del(renamed, first.attachment);
  assert.match(
    node.warnings.join('\n'),
    /interface "eth0" of container "c1" is on network "A", not "B": deleting that/,
  );

  await attach(node, renamed, second);
  await node.serve(second, 80);
  assert.equal(node.reached(8080), 'c2');
  assert.doesNotMatch(node.ruleset, /"c1"|id: c1\b/);
  assert.deepEqual(
    node.cni.attachments().map(({ containerID }) => containerID),
    ['c2'],
  );
});

test('podman-container-tools/podman#5097: a container that died without DEL does not keep its port', async () => {
  using node = new PublishingNode();
  const network = node.publishing('br');
  const web = { ...WEB, hostPort: 8083 };
  const netns = join(node.directory, 'netns');
  const dead = node.pod('c1', { netns, ...publishes(web) });
  bindNetns(dead.handle, netns);
  using successor = node.publisher('c2', web);
  await attach(node, network, dead);
  unbindNetns(netns);
  dead[Symbol.dispose]();
  await until('the link to go', () =>
    node.run('ip', '-o', 'link', 'show', 'master', 'hdcase0') === '' ? true : undefined,
  );

  await attach(node, network, successor);
  await node.serve(successor, 80);
  assert.equal(node.reached(8083), 'c2');
  const { attachments } = JSON.parse(node.heddle('ls', ['br', '--stale', '-o', 'json']).stdout);
  assert.deepEqual(
    attachments.map(({ containerID, state }: { containerID: string; state: string }) => [containerID, state]),
    [['c1', 'stale']],
  );

  await node.cni.gc(network, [validOf(successor)]);
  assert.doesNotMatch(node.ruleset, /id: c1\b/);
  assert.equal(node.reached(8083), 'c2');
  assert.deepEqual(
    node.cni.attachments().map(({ containerID }) => containerID),
    ['c2'],
  );
});

test('podman-container-tools/podman#5097: the port of a container that lives is refused, by the name of its holder', async () => {
  using node = new PublishingNode();
  const network = node.publishing('br');
  using holder = node.publisher('c1', WEB);
  using late = node.publisher('c2', WEB);
  await attach(node, network, holder);
  const before = node.state();
  const added = node.cni.add(network, late.attachment, { undoOnFailure: true });
  await assert.rejects(
    added,
    /host port 8080\/tcp is published already: container c1, interface eth0 of network br has it/,
  );
  node.assertClean(before);
});

test('kubernetes/kubernetes#63906: one container port is published by two host ports, by the same one twice, and by 200', async () => {
  using node = new PublishingNode();
  const network = node.publishing('br');
  const before = await node.settled(network, publishes(WEB));
  const mappings = [443, 4443, 443, ...Array.from({ length: 200 }, (_, index) => 20_000 + index)].map(
    (hostPort, index) => ({
      ...{ hostPort, containerPort: 4443 },
      protocol: ['tcp', 'TCP', ''][index % 3],
    }),
  );
  using pod = node.publisher('c1', ...(mappings as JsonObject[]));
  await attach(node, network, pod);
  await node.serve(pod, 4443);
  for (const port of [443, 4443, 20_000, 20_100, 20_199]) assert.equal(node.reached(port), 'c1', `${port}`);
  assert.equal(node.reached(20_200), '');
  await node.cni.check(network, pod.attachment);
  await node.cni.del(network, pod.attachment);
  node.assertClean(before);
});

for (const [mapping, problem] of [
  [{ ...WEB, protocol: 'icmp' }, /Invalid protocol of host port 8080: "icmp"/],
  [{ ...WEB, hostPort: 0 }, /Invalid host port number: 0/],
  [{ ...WEB, hostPort: 65_536 }, /Invalid host port number: 65536/],
  [{ ...WEB, protocol: 'SCTP' }, undefined],
] as const) {
  const verdict = problem === undefined ? 'taken' : 'refused';
  test(`kubernetes/kubernetes#63906: ${JSON.stringify(mapping)} is ${verdict}`, async () => {
    using node = new PublishingNode();
    const network = node.publishing('br');
    const before = await node.settled(network, publishes(WEB));
    using pod = node.publisher('c1', mapping);
    const added = node.cni.add(network, pod.attachment, { undoOnFailure: true });
    if (problem === undefined) {
      await added;
      assert.match(node.ruleset, /sctp \. 8080 comment "[^"]+" : 192\.0\.2\.\d+ \. 80/);
      await node.cni.del(network, pod.attachment);
    } else {
      await assert.rejects(added, problem);
    }
    node.assertClean(before);
  });
}

for (const backend of ['nftables', 'iptables']) {
  test(`containernetworking/plugins#335: many first ADDs at once share their chains, ${backend}`, {
    skip: missing(backend === 'iptables' ? 'iptables' : 'nft'),
  }, async () => {
    using node = new PublishingNode();
    const network = node.publishing('br', { backend });
    let before: readonly string[] | undefined;
    for (let round = 0; round < 2; round++) {
      node.run('nft flush ruleset');
      const lock = spawn('flock', ['/run/xtables.lock', 'sleep', '1']);
      const pods = Array.from({ length: 16 }, (_, index) =>
        node.publisher(`c${index}`, { ...WEB, hostPort: 9000 + index }),
      );
      await Promise.all([...pods.map((pod) => attach(node, network, pod)), once(lock, 'exit')]);
      const jumps =
        backend === 'iptables'
          ? node
              .run('iptables', '-t', 'nat', '-S')
              .split('\n')
              .filter((line) => /^-A [A-Z]+ .*-j CNI-HOSTPORT/.test(line))
          : chainsOf(node);
      assert.ok(jumps.length > 0);
      assert.equal(new Set(jumps).size, jumps.length);
      for (const pod of pods) await node.cni.check(network, pod.attachment);
      await Promise.all(pods.map((pod) => node.cni.del(network, pod.attachment)));
      for (const pod of pods) pod[Symbol.dispose]();
      before ??= node.state();
      node.assertClean(before);
    }
  });
}

/** What a runtime says of an attachment whose ports are to be published. */
function publishes(...portMappings: readonly JsonObject[]): { readonly capabilityArgs: JsonObject } {
  return { capabilityArgs: { portMappings } };
}

/** The base chains of the node's rules. */
function chainsOf(node: CaseNode): readonly string[] {
  return node.ruleset.split('\n').filter((line) => line.includes('type nat hook'));
}
