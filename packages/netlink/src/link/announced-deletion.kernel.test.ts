import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { createNetns, type NetnsHandle } from '@heddle/sys';
import { NetlinkError } from '../core/netlink-error.ts';
import { type KernelSession, openSession } from '../session/session.ts';
import { TestNetns } from '../testing/test-netns.ts';
import { LinkRemovals } from './removals.ts';

const openFiles = () => readdirSync('/proc/self/fd').length;

type Check = (session: KernelSession) => Promise<void>;

/** With the request on a thread, and with it in a process of its own. */
async function withSession(check: Check): Promise<void> {
  const late: unknown[] = [];
  const onLateFailure = (error: unknown) => late.push(error);
  const ways = [
    (netns: NetnsHandle) => ({ removals: new LinkRemovals({ netns, group: 73, onLateFailure }) }),
    () => ({ leaveDeletions: true }),
  ];
  for (const way of ways) {
    using netns = createNetns();
    using session = openSession({ netns, ...way(netns) });
    await check(session);
  }
  assert.deepEqual(late, []);
}

test('a link that is announced as deleted is gone, and so is the other end, and both names are free', async () => {
  await withSession(async ({ links }) => {
    using pod = new TestNetns();
    await links.add({ name: 'hdbr', kind: 'bridge', up: true });
    for (let round = 0; round < 5; round++) {
      await links.add({
        ...{ name: 'hd0', kind: 'veth', up: true, master: 'hdbr' },
        peer: { name: 'eth0', netns: pod.handle },
      });
      const { index } = await links.get('hd0');
      await links.delete(round % 2 === 0 ? index : 'hd0');
      assert.equal(await links.find('hd0'), undefined);
      assert.equal(await pod.session.links.find('eth0'), undefined);
    }
  });
});

test('a pair in one namespace goes together', async () => {
  await withSession(async ({ links }) => {
    await links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1' } });
    await links.delete('hd1');
    assert.deepEqual(
      (await links.list()).map(({ name }) => name),
      ['lo'],
    );
  });
});

test('what the kernel refuses is an error of its own words, at once', async () => {
  await withSession(async ({ links }) => {
    await assert.rejects(links.delete('hdnone'), (error) => NetlinkError.is(error, 'ENODEV'));
    await assert.rejects(links.delete(9999), (error) => NetlinkError.is(error, 'ENODEV'));
    await assert.rejects(links.delete('lo'), (error) => NetlinkError.is(error, 'EOPNOTSUPP'));
  });
});

test('many at once do not mix, and no socket stays', async () => {
  const before = openFiles();
  await withSession(async ({ links }) => {
    const names = Array.from({ length: 12 }, (_, index) => `hd${index}`);
    for (const name of names) await links.add({ name, kind: 'veth', peer: { name: `${name}p` } });
    await Promise.all(names.map((name) => links.delete(name)));
    assert.deepEqual(
      (await links.list()).map(({ name }) => name),
      ['lo'],
    );
  });
  // Each is closed when its acknowledgement has come.
  while (openFiles() > before + 2) await new Promise(setImmediate);
});
