import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Mac } from '@heddle/netaddr';
import { NetlinkError } from '../core/netlink-error.ts';
import { TestNetns } from '../testing/test-netns.ts';

const MAC = Mac.parse('0a:58:0a:01:00:02');

test('a bridge has its options, at its making and later', async () => {
  using lab = new TestNetns();
  const { links } = lab.session;
  await links.add({
    name: 'hdbr',
    kind: 'bridge',
    ageingTime: 5000,
    forwardDelay: 200,
    stp: true,
    multicastSnooping: false,
  });
  const { data } = await links.get('hdbr');
  assert.equal(data?.kind, 'bridge');
  assert.equal(data.kind === 'bridge' && data.ageingTime, 5000);
  const info = () => infoData(lab, 'hdbr');
  assert.equal(info()['ageing_time'], 5000);
  assert.equal(info()['stp_state'], 1);
  assert.equal(info()['mcast_snooping'], 0);
  assert.equal(info()['forward_delay'], 200);
  await links.set('hdbr', { data: { kind: 'bridge', stp: false, callIptables: true } });
  assert.equal(info()['stp_state'], 0);
  assert.equal(info()['nf_call_iptables'], 1);
});

test('a macvlan sits on its parent, made straight in another namespace', async () => {
  using host = new TestNetns();
  using pod = new TestNetns();
  await host.session.links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1' } });
  await host.session.links.add({
    name: 'eth0',
    kind: 'macvlan',
    parent: 'hd0',
    mode: 'bridge',
    broadcastQueueLength: 2000,
    mac: MAC,
    netns: pod.handle,
  });
  const link = await pod.session.links.get('eth0');
  assert.equal(link.data?.kind === 'macvlan' && link.data.mode, 'bridge');
  assert.equal(link.data?.kind === 'macvlan' && link.data.broadcastQueueLength, 2000);
  assert.equal(link.parent, (await host.session.links.get('hd0')).index);
  assert.ok(link.mac?.equals(MAC));
});

for (const local of ['192.0.2.1', '2001:db8::1']) {
  test(`a VXLAN from ${local}`, async () => {
    using lab = new TestNetns();
    const { links } = lab.session;
    await links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1' } });
    const addr = Addr.parse(local);
    await links.add({
      name: 'hdvx',
      kind: 'vxlan',
      id: 42,
      port: 4789,
      local: addr,
      parent: 'hd0',
      learning: false,
      ttl: 8,
    });
    const { data } = await links.get('hdvx');
    assert.ok(data?.kind === 'vxlan');
    assert.deepEqual(
      [data.id, data.port, data.local, data.link, data.learning, data.ttl],
      [42, 4789, addr, (await links.get('hd0')).index, false, 8],
    );
    const info = infoData(lab, 'hdvx');
    assert.equal(info['id'], 42);
    assert.equal(info['link'], 'hd0');
    assert.equal(info['port'], 4789);
    assert.equal(info[addr.family === 4 ? 'local' : 'local6'], local);
  });
}

test('an ifb without a queue; a tap device as the ioctl made it', async () => {
  using lab = new TestNetns();
  const { links } = lab.session;
  await links.add({ name: 'hdifb', kind: 'ifb', up: true, mtu: 1400, txQueueLength: 0 });
  const ifb = await links.get('hdifb');
  assert.deepEqual([ifb.kind, ifb.up, ifb.mtu, ifb.txQueueLength], ['ifb', true, 1400, 0]);
  lab.run('ip', 'tuntap', 'add', 'dev', 'hdtap', 'mode', 'tap', 'user', '1000');
  const { data } = await links.get('hdtap');
  assert.ok(data?.kind === 'tun');
  assert.deepEqual([data.type, data.owner, data.persistent], ['tap', 1000, true]);
});

test('a kind that the kernel lacks is EOPNOTSUPP', async (t) => {
  using lab = new TestNetns();
  try {
    await lab.session.links.add({ name: 'hd0', kind: 'vrf', table: 10 });
    t.diagnostic('this kernel has VRFs');
    assert.equal((await lab.session.links.get('hd0')).kind, 'vrf');
  } catch (error) {
    assert.ok(NetlinkError.is(error, 'EOPNOTSUPP'));
    assert.match(error.message, /add link hd0 \(vrf\): EOPNOTSUPP \(kernel: Unknown device type\)/);
  }
});

/** What `ip` says of a link's own kind. */
function infoData(lab: TestNetns, name: string): Record<string, unknown> {
  const [link] = lab.json('ip', '-d', '-j', 'link', 'show', name);
  return (link?.['linkinfo'] as { info_data: Record<string, unknown> } | undefined)?.info_data ?? {};
}
