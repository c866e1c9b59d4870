import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Prefix } from '@heddle/netaddr';
import { type Check, only } from '../check.ts';
import { DoesNotApply, must } from '../failure.ts';
import type { Container } from '../lab/container.ts';
import { GONE_WITHIN, type Lab } from '../lab/lab.ts';
import { differences, type Snapshot, snapshotOf } from '../lab/snapshot.ts';
import { refusal } from './errors.ts';
import { containerUnchanged, nodeUnchanged, same, settled, withoutCommonIpv6 } from './unchanged.ts';

const BEYOND = 'beyond the spec';

/** Nothing stays. */
export const LEAK_CHECKS: readonly Check[] = [
  {
    id: 'leaks/node',
    title:
      'after ADD and DEL the node is as it was: links, addresses, routes, rules, neighbours, nftables, traffic control, parameters, files, leases of DHCP',
    cites: BEYOND,
    why: 'What stays piles up until the node is slow, full or wrong.',
    async run(lab) {
      await lab.warmUp();
      const [before, leases] = [await lab.snapshot(), lab.leases()];
      const container = await lab.container();
      await addInUse(lab, container);
      await lab.del(container);
      await nodeUnchanged(lab, before, 'ADD and DEL');
      await leasesUnchanged(lab, leases, 'ADD and DEL');
    },
  },
  {
    id: 'leaks/container',
    title: 'after ADD and DEL the container is as it was',
    cites: BEYOND,
    why: 'A container may be attached to something else next.',
    async run(lab) {
      const container = await lab.container();
      const before = await settled(container);
      await lab.add(container);
      await lab.del(container);
      same(before, await withoutCommonIpv6(container), 'a container as it was before ADD and DEL');
    },
  },
  {
    id: 'leaks/many-rounds',
    title: 'after fifteen containers have come and gone, nothing has grown',
    cites: BEYOND,
    why: 'Some things leak only by turns.',
    async run(lab) {
      await lab.warmUp();
      const [before, leases] = [await lab.snapshot(), lab.leases()];
      for (let round = 0; round < 15; round++) {
        const container = await lab.container();
        await addInUse(lab, container);
        await lab.del(container);
        await lab.end(container);
      }
      await nodeUnchanged(lab, before, 'fifteen rounds');
      await leasesUnchanged(lab, leases, 'fifteen rounds');
    },
  },
  {
    id: 'leaks/failed-add',
    title: 'an ADD that fails leaves nothing',
    cites: BEYOND,
    why: 'The retry would find the remains in its way, and not every runtime sends DEL.',
    skips: only('interface', 'chained'),
    async run(lab) {
      await lab.warmUp();
      const container = await lab.container();
      if (lab.subject.makesInterface) {
        const { links } = container.namespace.session;
        await links.add({ kind: 'veth', name: container.ifName, peer: { name: 'far' } });
      }
      const before = [await lab.snapshot(), await snapshotOf(container.namespace)] as const;
      const call = await lab.call(
        'ADD',
        container,
        lab.subject.makesInterface ? {} : { prevResult: 'nonsense' },
      );
      if (call.exitCode === 0) throw new DoesNotApply('no ADD that fails, which another check tells');
      refusal(call, 'for an ADD that cannot work');
      await nodeUnchanged(lab, before[0], 'the failed ADD');
      await containerUnchanged(container, before[1], 'the failed ADD');
    },
  },
  {
    id: 'leaks/namespace',
    title: 'a container that ends is gone: nothing that the plugin left holds its namespace',
    cites: BEYOND,
    why: 'A held namespace keeps its interfaces, addresses and connections for ever.',
    async run(lab) {
      const container = await lab.container();
      const { links } = lab.node.session;
      // The kernel takes it away together with the namespace that its other end is in.
      await links.add({
        kind: 'veth',
        name: 'kitcanary',
        peer: { name: 'canary', netns: container.namespace.handle },
      });
      await lab.add(container);
      await lab.del(container);
      container[Symbol.dispose]();
      for (let waited = 0; (await links.find('kitcanary')) !== undefined; waited += 50) {
        must(waited < GONE_WITHIN, 'a namespace that is gone within a minute', 'it is still there');
        await sleep(50);
      }
    },
  },
  {
    id: 'leaks/processes',
    title: 'no process stays behind in the namespaces of node or container',
    cites: BEYOND,
    why: 'A runtime waits for whoever holds its pipes.',
    async run(lab) {
      const container = await lab.container();
      const before = processesIn([lab, container]);
      await lab.add(container);
      await lab.del(container);
      const left = () => processesIn([lab, container]).filter((each) => !before.includes(each));
      // One that only sees to the end of what the kernel was asked for does not stay.
      for (let waited = 0; left().length > 0; waited += 20) {
        must(waited < STAYS_AFTER, 'no process that was not there before', () => left().join(', '));
        await sleep(20);
      }
    },
  },
];

/**
 * ADD, and what the caller of an IPAM plugin does with the result: the interface has the addresses when DEL comes, and they may be
 * what the plugin speaks to a server from.
 */
async function addInUse(lab: Lab, container: Container): Promise<void> {
  const { result } = await lab.add(container);
  if (lab.subject.kind !== 'ipam') return;
  const { links, addresses } = container.namespace.session;
  const link = await links.find(container.ifName);
  if (link === undefined) return;
  for (const { address } of result.ips ?? [])
    await addresses.add({ link: link.index, prefix: Prefix.parse(address) });
}

/** What gives a lease back is not answered: it may be under way for a moment. */
async function leasesUnchanged(lab: Lab, before: Snapshot, after: string): Promise<void> {
  for (let waited = 0; differences(before, lab.leases()).length > 0; waited += 20) {
    if (waited >= STAYS_AFTER) same(before, lab.leases(), `the leases of DHCP as they were before ${after}`);
    await sleep(20);
  }
}

/** Milliseconds after which a process, or a lease, is taken for one that stays. */
const STAYS_AFTER = 5000;

function processesIn([lab, container]: readonly [
  Lab,
  { readonly namespace: Lab['node'] },
]): readonly string[] {
  const wanted = [lab.node, container.namespace].map(({ handle }) => `net:[${handle.ino}]`);
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return wanted.includes(readlinkSync(`/proc/${pid}/ns/net`));
    } catch {
      return false;
    }
  });
}
