import assert from 'node:assert/strict';
import { Prefix } from '@heddle/netaddr';
import { type Case, refused } from './case.ts';

/** Policy routing. */
export const ruleCases: readonly Case[] = [
  {
    name: 'a fresh namespace has the rules that every one has',
    async run({ host }) {
      assert.deepEqual(
        (await host.rules.list()).map(({ family, priority, table, action }) =>
          [family, priority, table, action].join(' '),
        ),
        ['4 0 255 table', '4 32766 254 table', '4 32767 253 table', '6 0 255 table', '6 32766 254 table'],
      );
    },
  },
  ...['10.1.0.2/32', 'fd00::2/128'].map(
    (text): Case => ({
      name: `a rule from ${text} comes in front of the others, once`,
      async run({ host }) {
        const from = Prefix.parse(text);
        await host.rules.add({ from, table: 1000 });
        await host.rules.add({ from, table: 1001 });
        await refused(host.rules.add({ from, table: 1001, priority: 32764 }), 'EEXIST');
        const rules = await host.rules.list({ family: from.family });
        assert.deepEqual(
          rules.slice(0, 3).map(({ priority, table }) => [priority, table]),
          [
            [0, 255],
            [32764, 1001],
            [32765, 1000],
          ],
        );
        await host.rules.delete({ from, table: 1000 });
        await refused(host.rules.delete({ from, table: 1000 }), 'ENOENT');
        await host.rules.delete({ from });
        assert.equal((await host.rules.list({ family: from.family })).length, from.family === 4 ? 3 : 2);
      },
    }),
  ),
  {
    name: 'everything that a rule may say comes back',
    async run({ host }) {
      const spec = {
        ...{ from: Prefix.parse('10.0.0.0/8'), to: Prefix.parse('192.0.2.0/24'), iif: 'lo', oif: 'lo' },
        ...{ fwmark: 0x100, fwmask: 0xff00, priority: 1234, table: 200, protocol: 99, invert: true },
        ...{ suppressPrefixLength: 0, ipProtocol: 6, destinationPorts: { start: 80, end: 90 } },
      };
      await host.rules.add(spec);
      const [rule] = await host.rules.list({ priority: 1234 });
      assert.deepEqual(rule, { ...spec, family: 4, action: 'table' });
      await host.rules.delete(rule ?? assert.fail());
    },
  },
  {
    name: 'rules of the same priority are tried in the order in which they came',
    async run({ host }) {
      for (const table of [300, 100, 200]) await host.rules.add({ family: 6, table, priority: 50 });
      assert.deepEqual(
        (await host.rules.list({ priority: 50 })).map(({ table }) => table),
        [300, 100, 200],
      );
    },
  },
  {
    name: 'rules that drop',
    async run({ host }) {
      const to = Prefix.parse('198.51.100.0/24');
      for (const [action, errno] of [
        ['unreachable', 'ENETUNREACH'],
        ['prohibit', 'EACCES'],
        ['blackhole', 'EINVAL'],
      ] as const) {
        await host.rules.add({ to, action, priority: 10 });
        await refused(host.routes.lookup(to.network), errno);
        await host.rules.delete({ to, action });
      }
    },
  },
];
