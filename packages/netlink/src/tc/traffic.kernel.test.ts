import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetlinkError } from '../core/netlink-error.ts';
import { TestNetns } from '../testing/test-netns.ts';
import { TC_H, tcHandle } from './handle.ts';
import { burstTicks } from './kinds/rate.ts';

async function labWithLink(): Promise<TestNetns> {
  const lab = new TestNetns();
  await lab.session.links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'hd1' } });
  return lab;
}

for (const rate of [125_000, 6_000_000_000]) {
  test(`a token bucket of ${rate} bytes per second`, async () => {
    using lab = await labWithLink();
    const { qdiscs } = lab.session;
    const tbf = { rate, buffer: burstTicks(100_000, rate), limit: 103_125 };
    await qdiscs.add({ link: 'hd0', kind: 'tbf', handle: tcHandle(1), ...tbf });
    const [qdisc] = await qdiscs.list({ link: 'hd0' });
    assert.deepEqual([qdisc?.kind, qdisc?.handle, qdisc?.parent], ['tbf', tcHandle(1), TC_H.ROOT]);
    assert.deepEqual(qdisc?.tbf, tbf);
    const [seen] = lab.json('tc', '-d', '-j', 'qdisc', 'show', 'dev', 'hd0');
    const options = seen?.['options'] as Record<string, number | string>;
    assert.equal(seen?.['handle'], '1:');
    assert.equal(options['rate'], rate);
    assert.ok(
      Math.abs(Number.parseInt(String(options['burst']), 10) - 100_000) < 5000,
      `burst ${options['burst']}`,
    );
    await assert.rejects(qdiscs.add({ link: 'hd0', kind: 'tbf', handle: tcHandle(1), ...tbf }), (error) => {
      assert.ok(NetlinkError.is(error, 'EEXIST'));
      assert.match(error.message, /^add tbf qdisc to hd0: EEXIST/);
      return true;
    });
    await qdiscs.replace({ link: 'hd0', kind: 'tbf', handle: tcHandle(1), ...tbf, limit: 200_000 });
    assert.equal((await qdiscs.list({ link: 'hd0' }))[0]?.tbf?.limit, 200_000);
    await qdiscs.delete({ link: 'hd0' });
    await assert.rejects(qdiscs.delete({ link: 'hd0' }), (error) => NetlinkError.is(error, 'ENOENT'));
  });
}

test('what comes in is sent to an ifb', async () => {
  using lab = await labWithLink();
  const { qdiscs, filters, links } = lab.session;
  await links.add({ name: 'hdifb', kind: 'ifb', up: true, txQueueLength: 0 });
  const { index } = await links.get('hdifb');
  await qdiscs.add({ link: 'hd0', kind: 'ingress' });
  const parent = tcHandle(0xffff);
  await filters.add({
    link: 'hd0',
    parent,
    priority: 1,
    kind: 'u32',
    classId: tcHandle(1, 1),
    actions: [{ kind: 'mirred', how: 'egress-redirect', link: index }],
  });
  const [filter, ...others] = await filters.list({ link: 'hd0', parent });
  assert.deepEqual(others, []);
  assert.deepEqual([filter?.kind, filter?.priority, filter?.protocol], ['u32', 1, 3]);
  assert.equal(filter?.u32?.classId, tcHandle(1, 1));
  assert.deepEqual(filter.u32.keys, [{ mask: 0, value: 0, offset: 0, offsetMask: 0 }]);
  assert.deepEqual(filter.u32.actions, [
    { kind: 'mirred', how: 'egress-redirect', link: index, verdict: 'stolen' },
  ]);
  const text = lab.run('tc', 'filter', 'show', 'dev', 'hd0', 'ingress');
  assert.match(text, /match 00000000\/00000000 at 0/);
  assert.match(text, /mirred \(Egress Redirect to device hdifb\) stolen/);

  await filters.delete({ link: 'hd0', parent, priority: 1, protocol: 3, kind: 'u32' });
  assert.deepEqual(await filters.list({ link: 'hd0', parent }), []);
  await qdiscs.delete({ link: 'hd0', parent: TC_H.INGRESS });
  assert.ok(!(await qdiscs.list({ link: 'hd0' })).some(({ kind }) => kind === 'ingress'));
});

test('classes of a hierarchy', async () => {
  using lab = await labWithLink();
  const { qdiscs, classes } = lab.session;
  await qdiscs.add({ link: 'hd0', kind: 'htb', handle: tcHandle(1), defaultClass: 0x10 });
  const [qdisc] = await qdiscs.list({ link: 'hd0' });
  assert.equal(qdisc?.htb?.defaultClass, 0x10);
  const rate = 1_250_000;
  const buffer = burstTicks(15_000, rate);
  await classes.add({ link: 'hd0', kind: 'htb', parent: tcHandle(1), handle: tcHandle(1, 1), rate, buffer });
  await classes.add({
    link: 'hd0',
    kind: 'htb',
    parent: tcHandle(1, 1),
    handle: tcHandle(1, 0x10),
    rate,
    ceil: 5_000_000_000,
    buffer,
    priority: 3,
    quantum: 3000,
  });
  const [inner] = (await classes.list({ link: 'hd0' })).filter(({ handle }) => handle === tcHandle(1, 0x10));
  assert.deepEqual(
    [inner?.parent, inner?.htb?.rate, inner?.htb?.ceil, inner?.htb?.priority, inner?.htb?.quantum],
    [tcHandle(1, 1), rate, 5_000_000_000, 3, 3000],
  );
  const text = lab.run('tc', 'class', 'show', 'dev', 'hd0');
  assert.match(text, /class htb 1:10 parent 1:1 prio 3 rate 10Mbit ceil 40Gbit/);
  await classes.delete({ link: 'hd0', handle: tcHandle(1, 0x10) });
  await assert.rejects(classes.delete({ link: 'hd0', handle: tcHandle(1, 0x10) }), (error) =>
    NetlinkError.is(error, 'ENOENT'),
  );
});

test('both sides of clsact', async (t) => {
  using lab = await labWithLink();
  const { qdiscs, filters, links } = lab.session;
  try {
    await qdiscs.add({ link: 'hd0', kind: 'clsact' });
  } catch (error) {
    if (!NetlinkError.is(error, 'ENOENT')) throw error;
    t.skip('this kernel has no clsact');
    return;
  }
  const to = (await links.get('hd1')).index;
  for (const parent of [TC_H.MIN_INGRESS, TC_H.MIN_EGRESS]) {
    await filters.add({
      link: 'hd0',
      parent,
      priority: 7,
      protocol: 0x0800,
      kind: 'u32',
      keys: [{ mask: 0xffff_ff00, value: 0x0a00_0000, offset: 16 }],
      actions: [{ kind: 'mirred', how: 'egress-mirror', link: to }],
    });
    const [filter] = await filters.list({ link: 'hd0', parent });
    assert.deepEqual([filter?.priority, filter?.protocol], [7, 0x0800]);
    assert.deepEqual(filter?.u32?.keys, [
      { mask: 0xffff_ff00, value: 0x0a00_0000, offset: 16, offsetMask: 0 },
    ]);
    assert.deepEqual(filter.u32.actions, [
      { kind: 'mirred', how: 'egress-mirror', link: to, verdict: 'pipe' },
    ]);
  }
});
