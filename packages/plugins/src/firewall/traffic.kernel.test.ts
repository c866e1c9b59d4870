/** What the firewall does to packets: nodes that forward nothing by themselves, and bridges that are kept apart. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Addr } from '@heddle/netaddr';
import { type LabConfig, type LabRequest, TestNetns, UdpEndpoint } from '../testing/index.ts';
import { FirewallLab } from './testing.ts';

const BRIDGE_NETFILTER = '/proc/sys/net/bridge/bridge-nf-call-iptables';
const withBridgeNetfilter = existsSync(BRIDGE_NETFILTER)
  ? {}
  : { skip: 'this kernel does not show netfilter what a bridge passes on (br_netfilter)' };

interface ScenePod {
  readonly netns: TestNetns;
  readonly ips: readonly [v4: string, v6: string];
  readonly request: (config: LabConfig) => LabRequest;
}

/**
 * A node with bridges br0, 10.0.0.1 and fd00::1, and br1, 10.0.1.1 and fd00:1::1; a peer outside at 192.0.2.2 and
 * 2001:db8::2, who routes by the node.
 */
class Scene implements Disposable {
  readonly lab = new FirewallLab();
  readonly outside = new TestNetns();
  readonly #pods: TestNetns[] = [];

  constructor() {
    const { host } = this.lab;
    host.skipAddressDetection();
    this.outside.skipAddressDetection();
    if (existsSync(BRIDGE_NETFILTER)) {
      for (const family of ['', '6']) host.run(`sysctl -qw net.bridge.bridge-nf-call-ip${family}tables=1`);
    }
    host.run('sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1');
    for (const number of [0, 1]) {
      host.run(`ip link add br${number} type bridge`);
      host.run(`ip link set br${number} up`);
      host.run(`ip address add 10.0.${number}.1/24 dev br${number}`);
      host.run(`ip address add fd00:${number}::1/64 dev br${number} nodad`);
    }
    host.join(this.outside, ['up0', 'eth0']);
    for (const [where, link, end] of [
      [host, 'up0', 1],
      [this.outside, 'eth0', 2],
    ] as const) {
      where.run(`ip address add 192.0.2.${end}/24 dev ${link}`);
      where.run(`ip address add 2001:db8::${end}/64 dev ${link} nodad`);
    }
    this.outside.run('ip route add default via 192.0.2.1');
    this.outside.run('ip route add default via 2001:db8::1');
  }

  get host(): TestNetns {
    return this.lab.host;
  }

  /** A pod on one of the bridges. */
  pod(bridge: 0 | 1, number: number): ScenePod {
    const netns = new TestNetns();
    this.#pods.push(netns);
    netns.skipAddressDetection();
    const port = `veth${bridge}-${number}`;
    this.host.join(netns, [port, 'eth0']);
    this.host.run(`ip link set ${port} master br${bridge}`);
    const ips = [`10.0.${bridge}.${number}`, `fd00:${bridge}::${number}`] as const;
    netns.run(`ip address add ${ips[0]}/24 dev eth0`);
    netns.run(`ip address add ${ips[1]}/64 dev eth0 nodad`);
    netns.run(`ip route add default via 10.0.${bridge}.1`);
    netns.run(`ip route add default via fd00:${bridge}::1`);
    const pod = { id: `c${bridge}${number}`, ips: [`${ips[0]}/24`, `${ips[1]}/64`], bridge: `br${bridge}` };
    return { netns, ips, request: (config) => this.lab.request(config, pod) };
  }

  /** Nothing is forwarded that nobody accepts. */
  close(): void {
    for (const program of ['iptables', 'ip6tables']) this.host.run(`${program} -P FORWARD DROP`);
  }

  [Symbol.dispose](): void {
    for (const pod of this.#pods) pod[Symbol.dispose]();
    this.outside[Symbol.dispose]();
    this.lab[Symbol.dispose]();
  }
}

const OUTSIDE = ['192.0.2.2', '2001:db8::2'] as const;

/** Whether a datagram gets there, and its answer back; by IPv4 and IPv6. */
async function talks(
  from: TestNetns,
  to: TestNetns,
  addresses: readonly string[],
): Promise<readonly boolean[]> {
  const answers: boolean[] = [];
  for (const address of addresses) {
    const addr = Addr.parse(address);
    using server = new UdpEndpoint(to.handle, addr, 5000);
    using client = new UdpEndpoint(from.handle, addr.family === 4 ? Addr.ZERO4 : Addr.ZERO6);
    client.send('question', addr, 5000);
    const question = await server.receive(300);
    if (question !== undefined) server.send('answer', question.from, question.port);
    answers.push(question !== undefined && (await client.receive(300))?.text === 'answer');
  }
  return answers;
}

describe('a node whose policy is to forward nothing', () => {
  for (const backend of ['iptables', '']) {
    test(`forwards what the pod begins, and only that: backend ${JSON.stringify(backend)}`, async () => {
      using scene = new Scene();
      const pod = scene.pod(0, 2);
      scene.close();
      assert.deepEqual(await talks(pod.netns, scene.outside, OUTSIDE), [false, false]);
      await scene.lab.add(pod.request({ backend }));
      assert.deepEqual(await talks(pod.netns, scene.outside, OUTSIDE), [true, true]);
      assert.deepEqual(await talks(scene.outside, pod.netns, pod.ips), [false, false]);
      await scene.lab.del(pod.request({ backend }));
      assert.deepEqual(await talks(pod.netns, scene.outside, OUTSIDE), [false, false]);
    });
  }

  test('is let through by rules of the operator, or not, before those of pods', async () => {
    using scene = new Scene();
    const pod = scene.pod(0, 2);
    scene.close();
    await scene.lab.add(pod.request({}));
    scene.host.run(`iptables -A CNI-ADMIN -s ${pod.ips[0]} -j DROP`);
    assert.deepEqual(await talks(pod.netns, scene.outside, OUTSIDE), [false, true]);
  });

  test('is not impressed by an accept of another table', async () => {
    using scene = new Scene();
    const pod = scene.pod(0, 2);
    scene.close();
    await scene.lab.add(pod.request({ backend: 'nftables' }));
    assert.deepEqual(await talks(pod.netns, scene.outside, OUTSIDE), [false, false]);
  });
});

describe('a chain of nftables whose policy is to forward nothing', () => {
  test('forwards what the pod begins, and only that', async () => {
    using scene = new Scene();
    const pod = scene.pod(0, 2);
    const other = scene.pod(0, 3);
    const request = pod.request({ backend: 'nftables' });
    await scene.lab.add(other.request({ backend: 'nftables' }));
    scene.host.run('nft', 'chain inet heddle forward { policy drop; }');
    assert.deepEqual(await talks(pod.netns, scene.outside, OUTSIDE), [false, false]);
    await scene.lab.add(request);
    await scene.lab.check(request);
    assert.deepEqual(await talks(pod.netns, scene.outside, OUTSIDE), [true, true]);
    assert.deepEqual(await talks(scene.outside, pod.netns, pod.ips), [false, false]);
    scene.host.run('nft', `add rule inet heddle admin ip saddr ${pod.ips[0]} drop`);
    assert.deepEqual(await talks(pod.netns, scene.outside, OUTSIDE), [false, true]);
    await scene.lab.del({ ...request, prevResult: undefined });
    assert.deepEqual(await talks(pod.netns, scene.outside, OUTSIDE), [false, false]);
    assert.deepEqual(await talks(other.netns, scene.outside, OUTSIDE), [true, true]);
  });
});

for (const backend of ['iptables', 'nftables']) {
  describe(`ingressPolicy by ${backend}`, () => {
    test('same-bridge lets pods of a bridge talk, and keeps bridges apart', withBridgeNetfilter, async () => {
      using scene = new Scene();
      const config = { backend, ingressPolicy: 'same-bridge' };
      const [a, b, c] = [scene.pod(0, 2), scene.pod(0, 3), scene.pod(1, 2)];
      for (const pod of [a, b, c]) await scene.lab.add(pod.request(config));
      for (const pod of [a, b, c]) await scene.lab.check(pod.request(config));
      assert.deepEqual(await talks(a.netns, b.netns, b.ips), [true, true]);
      assert.deepEqual(await talks(a.netns, c.netns, c.ips), [false, false]);
      assert.deepEqual(await talks(c.netns, a.netns, a.ips), [false, false]);
      assert.deepEqual(await talks(a.netns, scene.outside, OUTSIDE), [true, true]);
      assert.deepEqual(await talks(scene.outside, a.netns, a.ips), [true, true]);
    });

    test('isolated keeps all pods apart; same-bridge after it does not', withBridgeNetfilter, async () => {
      using scene = new Scene();
      const [a, b, c] = [scene.pod(0, 2), scene.pod(0, 3), scene.pod(1, 2)];
      for (const pod of [a, b, c]) await scene.lab.add(pod.request({ backend, ingressPolicy: 'isolated' }));
      assert.deepEqual(await talks(a.netns, b.netns, b.ips), [false, false]);
      assert.deepEqual(await talks(a.netns, c.netns, c.ips), [false, false]);
      assert.deepEqual(await talks(a.netns, scene.outside, OUTSIDE), [true, true]);
      await scene.lab.add(b.request({ backend, ingressPolicy: 'same-bridge' }));
      // The solicitations of IPv6 were dropped as well, and their failure is remembered.
      a.netns.run('ip neigh flush all');
      assert.deepEqual(await talks(a.netns, b.netns, b.ips), [true, true]);
      assert.deepEqual(await talks(a.netns, c.netns, c.ips), [false, false]);
    });

    test('sees what is missing', async () => {
      using scene = new Scene();
      const pod = scene.pod(0, 2);
      const request = pod.request({ backend, ingressPolicy: 'same-bridge' });
      await scene.lab.add(request);
      await scene.lab.check(request);
      if (backend === 'iptables') scene.host.run('iptables -F CNI-ISOLATION-STAGE-2');
      else scene.host.run('nft', 'flush set inet heddle isolated_bridges');
      await assert.rejects(() => scene.lab.check(request), /STAGE-2|element br0 of set isolated_bridges/);
    });
  });
}
