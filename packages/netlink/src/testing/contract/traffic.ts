import assert from 'node:assert/strict';
import { TC_H, tcHandle } from '../../tc/handle.ts';
import { burstTicks } from '../../tc/kinds/rate.ts';
import { type Case, pair, refused } from './case.ts';

const rate = 125_000;
const bucket = { kind: 'tbf', rate, buffer: burstTicks(4096, rate), limit: 10_000 } as const;

/** Queueing disciplines, classes and filters. */
export const trafficCases: readonly Case[] = [
  {
    name: 'a link that is up has a discipline that cannot be deleted',
    async run({ host }) {
      await pair(host);
      const [qdisc, ...others] = await host.qdiscs.list({ link: 'hd0' });
      assert.deepEqual(
        [qdisc?.kind, qdisc?.handle, qdisc?.parent, others.length],
        ['noqueue', 0, TC_H.ROOT, 0],
      );
      await refused(host.qdiscs.delete({ link: 'hd0' }), 'ENOENT', 'Cannot delete qdisc with handle of zero');
    },
  },
  {
    name: 'a token bucket is made, changed, replaced and deleted',
    async run({ host }) {
      await pair(host);
      await host.qdiscs.add({ link: 'hd0', handle: tcHandle(1), ...bucket });
      const [made] = await host.qdiscs.list({ link: 'hd0' });
      assert.deepEqual(
        [made?.kind, made?.handle, made?.tbf?.rate, made?.tbf?.limit],
        ['tbf', tcHandle(1), rate, 10_000],
      );
      const again = host.qdiscs.add({ link: 'hd0', handle: tcHandle(1), ...bucket });
      await refused(again, 'EEXIST', 'Exclusivity flag on, cannot modify');
      const other = host.qdiscs.add({ link: 'hd0', handle: tcHandle(2), ...bucket });
      await refused(other, 'EEXIST', 'NLM_F_REPLACE needed to override');
      await host.qdiscs.replace({ link: 'hd0', handle: tcHandle(1), ...bucket, limit: 20_000 });
      await host.qdiscs.replace({ link: 'hd0', handle: tcHandle(2), ...bucket, limit: 30_000 });
      const qdiscs = await host.qdiscs.list({ link: 'hd0' });
      assert.deepEqual(
        qdiscs.map(({ handle, tbf }) => [handle, tbf?.limit]),
        [[tcHandle(2), 30_000]],
      );
      await host.qdiscs.delete({ link: 'hd0' });
      assert.deepEqual(
        (await host.qdiscs.list({ link: 'hd0' })).map(({ kind }) => kind),
        ['noqueue'],
      );
    },
  },
  {
    name: 'what comes in is sent to another link',
    async run({ host }) {
      await pair(host);
      const { index } = await host.links.get('hd1');
      const parent = tcHandle(0xffff);
      const redirect = { kind: 'mirred', how: 'egress-redirect', link: index } as const;
      const filter = {
        link: 'hd0',
        parent,
        kind: 'u32',
        classId: tcHandle(1, 1),
        actions: [redirect],
      } as const;
      await refused(host.filters.add(filter), 'EINVAL', "Parent Qdisc doesn't exists");
      await host.qdiscs.add({ link: 'hd0', kind: 'ingress' });
      await refused(
        host.qdiscs.add({ link: 'hd0', kind: 'ingress' }),
        'EEXIST',
        'Exclusivity flag on, cannot modify',
      );
      await host.filters.add(filter);
      await host.filters.add({ ...filter, priority: 1 });
      const listed = await host.filters.list({ link: 'hd0', parent });
      assert.deepEqual(
        listed.map(({ priority, protocol, kind, u32 }) => [priority, protocol, kind, u32?.classId]),
        [
          [1, 3, 'u32', tcHandle(1, 1)],
          [0xc000, 3, 'u32', tcHandle(1, 1)],
        ],
      );
      assert.deepEqual(listed[0]?.u32?.actions, [{ ...redirect, verdict: 'stolen' }]);
      await host.filters.delete({ link: 'hd0', parent, priority: 1 });
      const missing = host.filters.delete({ link: 'hd0', parent, priority: 1 });
      await refused(missing, 'ENOENT', 'Filter with specified priority/protocol not found');
      await host.filters.delete({ link: 'hd0', parent });
      assert.deepEqual(await host.filters.list({ link: 'hd0', parent }), []);
      await host.filters.delete({ link: 'hd0', parent });
      await host.qdiscs.delete({ link: 'hd0', parent: TC_H.INGRESS });
      await refused(host.qdiscs.delete({ link: 'hd0', parent: TC_H.INGRESS }), 'ENOENT');
    },
  },
  {
    name: 'classes of a hierarchy',
    async run({ host }) {
      await pair(host);
      const { buffer } = bucket;
      const inner = {
        link: 'hd0',
        kind: 'htb',
        parent: tcHandle(1, 1),
        handle: tcHandle(1, 0x10),
        rate,
        buffer,
      } as const;
      await refused(host.classes.add(inner), 'ENOENT');
      await host.qdiscs.add({ link: 'hd0', kind: 'htb', handle: tcHandle(1), defaultClass: 0x10 });
      await host.classes.add({ ...inner, parent: tcHandle(1), handle: tcHandle(1, 1) });
      await host.classes.add({ ...inner, ceil: 5_000_000_000, priority: 3 });
      await refused(host.classes.add(inner), 'EEXIST');
      const listed = await host.classes.list({ link: 'hd0' });
      assert.deepEqual(
        listed
          .map(({ handle, parent, htb }) => [
            handle,
            parent,
            htb?.rate,
            htb?.ceil,
            htb?.priority,
            htb?.quantum,
          ])
          .toSorted(),
        [
          [tcHandle(1, 1), TC_H.ROOT, rate, rate, 0, 12_500],
          [tcHandle(1, 0x10), tcHandle(1, 1), rate, 5_000_000_000, 3, 12_500],
        ].toSorted(),
      );
      await refused(host.classes.delete({ link: 'hd0', handle: tcHandle(1, 1) }), 'EBUSY');
      await host.classes.delete({ link: 'hd0', handle: tcHandle(1, 0x10) });
      await refused(host.classes.delete({ link: 'hd0', handle: tcHandle(1, 0x10) }), 'ENOENT');
      await host.qdiscs.delete({ link: 'hd0' });
      assert.deepEqual(await host.classes.list({ link: 'hd0' }), []);
    },
  },
  {
    name: 'traffic control goes with its link',
    async run({ host }) {
      await pair(host);
      await host.qdiscs.add({ link: 'hd0', handle: tcHandle(1), ...bucket });
      await host.links.delete('hd0');
      assert.ok(!(await host.qdiscs.list()).some(({ kind }) => kind === 'tbf'));
    },
  },
];
