import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetlinkError } from '../core/netlink-error.ts';
import { type KernelSession, openSession } from '../session/session.ts';
import { TestNetns } from '../testing/test-netns.ts';
import { LinkRemovals } from './removals.ts';

const GROUP = 73;
const MANY = Array.from({ length: 10 }, (_, index) => index);

/** Ten pairs whose other ends are in a pod, and two sessions that delete through the same removals. */
async function pairs(check: (lab: Lab) => Promise<void>): Promise<void> {
  using host = new TestNetns();
  using pod = new TestNetns();
  const late: unknown[] = [];
  const removals = new LinkRemovals({
    ...{ netns: host.handle, group: GROUP },
    onLateFailure: (error) => late.push(error),
  });
  using one = openSession({ netns: host.handle, removals });
  using other = openSession({ netns: host.handle, removals });
  const links: number[] = [];
  for (const at of MANY) {
    const peer = { name: `eth${at}`, netns: pod.handle };
    links.push((await one.links.make({ name: `hd${at}`, kind: 'veth', up: true, peer })).index);
  }
  await check({ host, pod, one, other, links, removals });
  assert.deepEqual(late, []);
}

interface Lab {
  readonly host: TestNetns;
  readonly pod: TestNetns;
  readonly one: KernelSession;
  readonly other: KernelSession;
  readonly links: readonly number[];
  readonly removals: LinkRemovals;
}

const namesOf = async ({ links }: KernelSession) => (await links.list()).map(({ name }) => name).sort();

/** The outcomes of deletions that are asked for at once, by turns of two sessions. */
function deleteAll({ one, other }: Lab, links: readonly number[]) {
  return Promise.allSettled(links.map((index, at) => (at % 2 === 0 ? one : other).links.delete(index)));
}

const reasonOf = (outcome: PromiseSettledResult<void> | undefined) =>
  outcome?.status === 'rejected' ? outcome.reason : undefined;

test('links that go at once are gone when their callers are told, with their other ends; their names are free', async () => {
  await pairs(async (lab) => {
    for (const outcome of await deleteAll(lab, lab.links)) assert.equal(outcome.status, 'fulfilled');
    assert.deepEqual(await namesOf(lab.host.session), ['lo']);
    assert.deepEqual(await namesOf(lab.pod.session), ['lo']);
    assert.equal(lab.removals.isBusy, false);
    await lab.one.links.add({ name: 'hd0', kind: 'veth', peer: { name: 'eth0', netns: lab.pod.handle } });
    await lab.one.links.delete('hd0');
  });
});

test('of several, each is told its own: one that is not there fails alone, and so does whoever comes second', async () => {
  await pairs(async (lab) => {
    const [first = 0, second = 0, ...rest] = lab.links;
    const outcomes = await deleteAll(lab, [first, second, 9999, second, ...rest]);
    assert.ok(NetlinkError.is(reasonOf(outcomes[2]), 'ENODEV'));
    assert.match(String(reasonOf(outcomes[2])), /delete link #9999/);
    assert.ok(NetlinkError.is(reasonOf(outcomes[3]), 'ENODEV'));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    assert.equal(refused.length, 2);
    assert.deepEqual(await namesOf(lab.host.session), ['lo']);
  });
});

test('a link that cannot be deleted keeps no other from going, and keeps its group', async () => {
  await pairs(async (lab) => {
    const { index: loopback } = await lab.one.links.get('lo');
    const outcomes = await deleteAll(lab, [loopback, ...lab.links]);
    assert.ok(NetlinkError.is(reasonOf(outcomes[0]), 'EOPNOTSUPP'));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, lab.links.length);
    assert.equal((await lab.host.session.links.get('lo')).group, 0);
    assert.deepEqual(await namesOf(lab.host.session), ['lo']);
  });
});

test("somebody else's link that carries the group survives", async () => {
  await pairs(async (lab) => {
    await lab.host.session.links.add({ name: 'theirs', kind: 'bridge', group: GROUP });
    for (const outcome of await deleteAll(lab, lab.links)) assert.equal(outcome.status, 'fulfilled');
    assert.deepEqual(await namesOf(lab.host.session), ['lo', 'theirs']);
  });
});

test('a link that is named by its name goes as well', async () => {
  await pairs(async ({ one, other, host, links: [, ...rest] }) => {
    await Promise.all([other.links.delete('hd0'), ...rest.map((index) => one.links.delete(index))]);
    assert.deepEqual(await namesOf(host.session), ['lo']);
  });
});

test('links that go at once are one deletion for the kernel', async () => {
  await pairs(async (lab) => {
    const grouped = new Set<number>();
    const { promise, resolve } = Promise.withResolvers<void>();
    using _events = lab.host.session.subscribe({
      groups: ['link'],
      onEvent: (event) => {
        if (event.kind !== 'link' || event.action !== 'new' || event.link.group !== GROUP) return;
        grouped.add(event.link.index);
        if (grouped.size === lab.links.length) resolve();
      },
      onResync: () => assert.fail('events were lost'),
    });
    await deleteAll(lab, lab.links);
    await promise;
    assert.deepEqual([...grouped].sort(), lab.links.toSorted());
  });
});
