/** Masquerading as a host outside sees it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr } from '@heddle/netaddr';
import { PluginLab, StubIpam, TestNetns, UdpEndpoint } from '../testing/index.ts';
import { ptp } from './index.ts';

for (const ipMasqBackend of ['nftables', 'iptables', '']) {
  test(`${ipMasqBackend || 'default'}: each container alone has its rule (containernetworking/plugins#279)`, async () => {
    const config = { type: 'ptp', ipMasq: true, ipMasqBackend, ipam: { type: 'stub' } };
    let next = 1;
    const ipam = new StubIpam(() => {
      next++;
      return {
        ips: [
          { address: `192.0.2.${next}/24`, gateway: '192.0.2.1' },
          { address: `fd00::${next}/64`, gateway: 'fd00::1' },
        ],
        routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
      };
    });
    using lab = new PluginLab([ptp, ipam.plugin]);
    using outside = uplink(lab);
    const pods = Array.from({ length: 5 }, () => lab.container());
    const results = [];
    for (const container of pods) results.push(await lab.add({ config, container }));
    const rules = ipMasqBackend === 'iptables' ? lab.host.run('iptables-save', '-t', 'nat') : '';
    if (ipMasqBackend === 'iptables') {
      const sources = [...rules.matchAll(/-A POSTROUTING -s (\S+)/g)].map(([, source]) => source);
      assert.deepEqual(
        sources.sort(),
        [2, 3, 4, 5, 6].map((at) => `192.0.2.${at}/32`),
      );
    }
    const [first, second, third] = pods;
    assert.ok(first && second && third);
    await lab.check({ config, container: second, prevResult: results[1] });
    await lab.del({ config, container: first, prevResult: results[0] });
    await lab.check({ config, container: second, prevResult: results[1] });

    const seen4 = await sourceOf(second, outside, Addr.parse('203.0.113.9'));
    assert.equal(seen4, '203.0.113.1', 'masqueraded');
    assert.equal(await sourceOf(second, outside, Addr.parse('2001:db8:9::9')), '2001:db8:9::1');
    assert.equal(await sourceOf(second, third, Addr.parse('192.0.2.4')), '192.0.2.3', 'not among themselves');
    assert.equal(await sourceOf(second, third, Addr.parse('fd00::4')), 'fd00::3');
  });
}

/** A namespace beyond the host, which knows nothing of the containers' networks. */
function uplink(lab: PluginLab): TestNetns {
  const outside = new TestNetns();
  lab.host.run('ip', 'link', 'add', 'up0', 'type', 'veth', 'peer', 'name', 'out0', 'netns', outside.path);
  const ends = [
    [lab.host, 'up0', 1],
    [outside, 'out0', 9],
  ] as const;
  for (const [netns, name, number] of ends) {
    netns.run('ip', 'address', 'add', `203.0.113.${number}/24`, 'dev', name);
    netns.run('ip', 'address', 'add', `2001:db8:9::${number}/64`, 'dev', name, 'nodad');
    netns.run('ip', 'link', 'set', name, 'up');
  }
  return outside;
}

/** The address from which packets of one namespace arrive in another. */
async function sourceOf(from: TestNetns, to: TestNetns, address: Addr): Promise<string> {
  using server = new UdpEndpoint(to.handle, address, 5000);
  using client = new UdpEndpoint(from.handle, address.family === 4 ? Addr.ZERO4 : Addr.parse('::'));
  client.send('hello', address, 5000);
  const datagram = await server.receive(2000);
  return `${datagram?.from}`;
}
