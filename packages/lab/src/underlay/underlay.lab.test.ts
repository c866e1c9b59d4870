/** Weather needs the kernel's netem, which small kernels lack. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { NetlinkError, openSession } from '@heddle/netlink';
import { createNetns } from '@heddle/sys';
import { LabError } from '../lab-error.ts';
import { ping } from '../probe/ping.ts';
import { netemOptions } from './netem.ts';
import { Underlay } from './underlay.ts';

/** Whether this kernel has it. */
async function hasNetem(): Promise<boolean> {
  using netns = createNetns();
  using session = openSession({ netns });
  try {
    await session.qdiscs.add({
      link: 'lo',
      kind: 'raw',
      name: 'netem',
      options: netemOptions({ delay: 1, loss: 0 }),
    });
    return true;
  } catch (error) {
    if (NetlinkError.is(error, 'ENOENT')) return false;
    throw error;
  }
}

test('packets are delayed and lost as they are told, where the kernel can', async () => {
  const segment = { name: 's', mtu: 1500, delay: 0, loss: 0, gateways: [Prefix.parse('198.18.1.1/24')] };
  using underlay = await Underlay.make([segment]);
  using one = createNetns();
  using two = createNetns();
  await underlay.connect({ name: 'one', segment: 's', addresses: [Prefix.parse('198.18.1.11/24')] }, one);
  await underlay.connect({ name: 'two', segment: 's', addresses: [Prefix.parse('198.18.1.12/24')] }, two);
  const there = Addr.parse('198.18.1.12');
  assert.equal((await ping(one, there, { timeout: 20_000 })).answered, true);
  if (!(await hasNetem())) {
    await assert.rejects(underlay.weather('two', { delay: 1, loss: 0 }), (error) => {
      assert.ok(error instanceof LabError);
      assert.match(error.message, /delay and loss for two: this kernel has no netem/);
      return true;
    });
    return;
  }
  await underlay.weather('two', { delay: 150, loss: 0 });
  const late = await ping(one, there, { timeout: 20_000 });
  assert.ok(late.answered && late.milliseconds >= 150, JSON.stringify(late));
  await underlay.weather('two', { delay: 0, loss: 1 });
  assert.deepEqual(await ping(one, there, { timeout: 1500 }), { answered: false });
  await underlay.weather('two', { delay: 0, loss: 0 });
  assert.equal((await ping(one, there, { timeout: 20_000 })).answered, true);
});
