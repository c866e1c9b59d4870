/** Published ports on the real kernel, by connections that are really made. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PluginError } from '@heddle/cni';
import { type Pod, PortLab } from './testing.ts';

const config = (mappings: readonly object[], more: object = {}) => ({
  type: 'portmap',
  ...more,
  runtimeConfig: { portMappings: mappings },
});
const call = (pod: Pod, mappings: readonly object[], more: object = {}) => ({
  config: config(mappings, more),
  container: pod.container,
  prevResult: pod.result,
});
const web = { hostPort: 8080, containerPort: 80, protocol: 'tcp' };
const dns = { hostPort: 5353, containerPort: 80, protocol: 'UDP' };

for (const backend of ['nftables', 'iptables']) {
  describe(`a published port, ${backend}`, () => {
    for (const bridgeNetfilter of [false, true]) {
      test(`is reached from everywhere while it is published, and from nowhere after${bridgeNetfilter ? ', past br_netfilter' : ''}`, async () => {
        using node = new PortLab({ bridgeNetfilter });
        const pod = node.pod(2);
        const other = node.pod(3);
        await node.serve(pod.container, 'pod', 80);
        const request = call(pod, [web, dns], { backend });
        await node.lab.add(request);
        await node.lab.check(request);
        const ask = (from: Parameters<PortLab['ask']>[0], address: string, protocol: 'tcp' | 'udp' = 'tcp') =>
          node.ask(from, { protocol, address, port: protocol === 'tcp' ? 8080 : 5353 });

        // From outside the client keeps its address.
        assert.equal(ask(node.outside, '192.0.2.1'), 'pod 192.0.2.2');
        assert.equal(ask(node.outside, '2001:db8::1'), 'pod 2001:db8::2');
        assert.equal(ask(node.outside, '192.0.2.1', 'udp'), 'pod 192.0.2.2');
        assert.equal(ask(node.outside, '2001:db8::1', 'udp'), 'pod 2001:db8::2');
        // From the node itself, 127.0.0.1 included.
        assert.equal(ask(node.host, '192.0.2.1'), 'pod 192.0.2.1');
        assert.equal(ask(node.host, '2001:db8::1'), 'pod 2001:db8::1');
        assert.equal(ask(node.host, '127.0.0.1'), 'pod 10.77.0.1');
        assert.equal(ask(node.host, '127.0.0.1', 'udp'), 'pod 10.77.0.1');
        // From the pod to itself by way of the node, and from its neighbour.
        assert.equal(ask(pod.container, '192.0.2.1'), 'pod 10.77.0.1');
        assert.equal(ask(pod.container, 'fd77::1'), 'pod fd77::1');
        assert.equal(ask(other.container, '10.77.0.1'), 'pod 10.77.0.1');
        assert.equal(ask(other.container, '2001:db8::1'), 'pod fd77::1');

        await node.lab.del(request);
        for (const address of ['192.0.2.1', '2001:db8::1'])
          assert.equal(ask(node.outside, address), undefined);
        assert.equal(ask(node.host, '127.0.0.1'), undefined);
        assert.equal(ask(pod.container, '192.0.2.1'), undefined);
      });
    }

    test('on one address is not reached by another', async () => {
      using node = new PortLab();
      const pod = node.pod(2);
      await node.serve(pod.container, 'pod', 80);
      await node.lab.add(
        call(
          pod,
          [
            { ...web, hostIP: '192.0.2.1' },
            { ...web, hostPort: 8081, hostIP: 'fd77::1' },
          ],
          { backend },
        ),
      );
      const ask = (address: string, port: number) => node.ask(node.host, { protocol: 'tcp', address, port });
      assert.equal(ask('192.0.2.1', 8080), 'pod 192.0.2.1');
      assert.equal(ask('10.77.0.1', 8080), undefined);
      assert.equal(ask('fd77::1', 8081), 'pod fd77::1');
      assert.equal(ask('2001:db8::1', 8081), undefined);
    });

    test('with masqAll hides who asks, without snat shows it', async () => {
      using node = new PortLab();
      const pod = node.pod(2);
      await node.serve(pod.container, 'pod', 80);
      const question = { protocol: 'tcp', address: '192.0.2.1', port: 8080 } as const;
      await node.lab.add(call(pod, [web], { backend, masqAll: true }));
      assert.equal(node.ask(node.outside, question), 'pod 10.77.0.1');
      await node.lab.del(call(pod, [web], { backend }));
      await node.lab.add(call(pod, [web], { backend, snat: false }));
      assert.equal(node.ask(node.outside, question), 'pod 192.0.2.2');
    });

    test('of UDP leads to the successor at once, although the client never stops', async () => {
      using node = new PortLab();
      const [first, second] = [node.pod(2), node.pod(3)];
      const firstServer = await node.serve(first.container, 'first', 80);
      await node.serve(second.container, 'second', 80);
      const question = { protocol: 'udp', address: '192.0.2.1', port: 5353, from: 40_000 } as const;
      await node.lab.add(call(first, [dns], { backend }));
      assert.equal(node.ask(node.outside, question), 'first 192.0.2.2');
      firstServer.kill('SIGKILL');
      await node.lab.del(call(first, [dns], { backend }));
      await node.lab.add(call(second, [dns], { backend }));
      assert.equal(node.ask(node.outside, question), 'second 192.0.2.2');

      // The port goes to a process of the node.
      await node.lab.del(call(second, [dns], { backend }));
      await node.serve(node.host, 'node', 5353);
      assert.equal(node.ask(node.outside, question), 'node 192.0.2.2');
      // And back to a pod.
      await node.lab.add(call(second, [dns], { backend }));
      assert.equal(node.ask(node.outside, question), 'second 192.0.2.2');
    });
  });
}

describe('nftables', () => {
  test('leaves a flow alone that only passes to such a port elsewhere', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    node.outside.run('ip', 'route', 'add', '10.77.0.0/24', 'via', '192.0.2.1');
    await node.serve(node.outside, 'elsewhere', 5353);
    // Connection tracking begins with the first rule that translates.
    await node.lab.add(call(node.pod(3), [web]));
    const question = { protocol: 'udp', address: '192.0.2.2', port: 5353, from: 40_001 } as const;
    assert.equal(node.ask(pod.container, question), 'elsewhere 10.77.0.2');
    const ids = () => /id=\d+/.exec(node.host.run('conntrack', '-L', '-p', 'udp', '-o', 'id'))?.[0];
    const before = ids();
    assert.ok(before);
    await node.lab.add(call(pod, [dns]));
    await node.lab.del(call(pod, [dns]));
    assert.equal(ids(), before);
  });

  test('::1 is left to the node, with a warning for a port on it', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.serve(pod.container, 'pod', 80);
    await node.serve(node.host, 'node', 8080);
    const outcome = await node.lab.run({
      command: 'ADD',
      ...call(pod, [web, { ...web, hostIP: '::1', hostPort: 9000 }]),
    });
    assert.equal(outcome.exitCode, 0);
    assert.match(outcome.stderr, /host port \[::1\]:9000\/tcp leads nowhere/);
    assert.equal(node.ask(node.host, { protocol: 'tcp', address: '::1', port: 8080 }), 'node ::1');
    assert.equal(
      node.ask(node.host, { protocol: 'tcp', address: '2001:db8::1', port: 8080 }),
      'pod 2001:db8::1',
    );
  });

  test('a neighbour does not reach what listens on 127.0.0.1, although route_localnet is on', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.serve(node.host, 'node', 7000);
    await node.lab.add(call(pod, [web]));
    assert.equal(node.host.run('sysctl', '-n', 'net.ipv4.conf.br0.route_localnet').trim(), '1');
    // A pod that does its best to send packets to 127.0.0.1 out.
    for (const command of [
      'ip route delete local 127.0.0.1 dev lo table local',
      'ip route delete local 127.0.0.0/8 dev lo table local',
      'ip route add 127.0.0.1/32 via 10.77.0.1',
      'sysctl -qw net.ipv4.conf.all.route_localnet=1',
    ]) {
      const [program = '', ...args] = command.split(' ');
      pod.container.run(program, ...args);
    }
    const answered = async () => {
      node.ask(pod.container, { protocol: 'tcp', address: '127.0.0.1', port: 7000 });
      const flows = await node.host.session.conntrack.list({ family: 4, original: { dport: 7000 } });
      return flows.length > 0;
    };
    assert.equal(await answered(), false);
    // It is the guard that keeps it out.
    node.host.run('nft', 'flush', 'chain', 'inet', 'heddle', 'guard');
    assert.equal(await answered(), true);
  });

  test('conditions hold back what they exclude', async () => {
    using node = new PortLab();
    const pod = node.pod(2);
    await node.serve(pod.container, 'pod', 80);
    const conditions = {
      conditionsV4: [
        'ip',
        'daddr',
        '!=',
        '10.77.0.1',
        'ip',
        'saddr',
        '{',
        '192.0.2.0/30,',
        '192.0.2.128-192.0.2.130',
        '}',
      ],
      conditionsV6: ['iifname', 'up0'],
    };
    const request = call(pod, [web], conditions);
    await node.lab.add(request);
    await node.lab.add(request);
    await node.lab.check(request);
    const ask = (from: typeof node.host, address: string) =>
      node.ask(from, { protocol: 'tcp', address, port: 8080 });
    assert.equal(ask(node.outside, '192.0.2.1'), 'pod 192.0.2.2');
    assert.equal(ask(node.host, '10.77.0.1'), undefined);
    assert.equal(ask(node.outside, '2001:db8::1'), 'pod 2001:db8::2');
    assert.equal(ask(node.host, '2001:db8::1'), undefined);
    assert.equal((node.host.run('nft', 'list', 'ruleset').match(/dnat ip6? to (10|\[)/g) ?? []).length, 2);
    await node.lab.del(request);
    await assert.rejects(() => node.lab.check(request), PluginError);
    assert.equal(ask(node.outside, '192.0.2.1'), undefined);
  });
});
