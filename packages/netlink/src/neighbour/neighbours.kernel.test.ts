import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Mac } from '@heddle/netaddr';
import { NetlinkError } from '../core/netlink-error.ts';
import { only } from '../lab/only.ts';
import { TestNetns } from '../testing/test-netns.ts';

const MAC = Mac.parse('0a:58:0a:01:00:02');

for (const text of ['10.0.0.2', 'fd00::2']) {
  test(`a neighbour ${text} is made, changed, listed and deleted`, async () => {
    using lab = new TestNetns();
    const { links, neighbours } = lab.session;
    await links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'hd1' } });
    const address = Addr.parse(text);
    await neighbours.add({ link: 'hd0', address, mac: MAC, protocol: 98 });
    const neighbour = only(await neighbours.list({ link: 'hd0', family: address.family }));
    assert.ok(neighbour.mac?.equals(MAC));
    assert.ok(neighbour.address.equals(address));
    assert.deepEqual([neighbour.state, neighbour.proxy, neighbour.protocol], [0x80, false, 98]);
    const [seen] = lab.json('ip', '-d', '-j', 'neighbour', 'show', 'to', text);
    assert.deepEqual([seen?.['lladdr'], seen?.['state']], [String(MAC), ['PERMANENT']]);

    await assert.rejects(neighbours.add({ link: 'hd0', address, mac: MAC }), (error) =>
      NetlinkError.is(error, 'EEXIST'),
    );
    const mac = Mac.parse('0a:58:0a:01:00:03');
    await neighbours.replace({ link: 'hd0', address, mac, state: 0x02 });
    const changed = only(await neighbours.list({ link: 'hd0', family: address.family }));
    assert.ok(changed.mac?.equals(mac));
    assert.equal(changed.state, 0x02);

    await neighbours.delete({ link: 'hd0', address });
    await assert.rejects(
      neighbours.delete({ link: 'hd0', address: Addr.parse(address.family === 4 ? '10.0.0.9' : 'fd00::9') }),
      (error) => {
        assert.ok(NetlinkError.is(error, 'ENOENT'));
        assert.match(error.message, /^delete neighbour \S+ dev hd0: ENOENT/);
        return true;
      },
    );
  });

  test(`a proxy entry for ${text}`, async () => {
    using lab = new TestNetns();
    const { links, neighbours } = lab.session;
    await links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'hd1' } });
    const address = Addr.parse(text);
    await neighbours.add({ link: 'hd0', address, proxy: true });
    assert.ok(!(await neighbours.list()).some((each) => each.address.equals(address)));
    const entry = only(await neighbours.list({ proxy: true }));
    assert.ok(entry.address.equals(address));
    assert.equal(entry.proxy, true);
    await neighbours.delete({ link: 'hd0', address, proxy: true });
    assert.deepEqual(await neighbours.list({ proxy: true }), []);
  });
}
