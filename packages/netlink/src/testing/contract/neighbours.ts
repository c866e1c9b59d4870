import assert from 'node:assert/strict';
import { Addr, Mac } from '@heddle/netaddr';
import { type Case, pair, refused } from './case.ts';

const MAC = Mac.parse('0a:58:0a:01:00:02');
const OTHER = Mac.parse('0a:58:0a:01:00:03');

/** Neighbours and proxy entries. */
export const neighbourCases: readonly Case[] = ['10.0.0.2', 'fd00::2'].flatMap((text): Case[] => {
  const address = Addr.parse(text);
  const { family } = address;
  return [
    {
      name: `a neighbour ${text} is made, changed and deleted`,
      async run({ host }) {
        await pair(host);
        await host.links.set('lo', { up: true });
        const { index } = await host.links.get('hd0');
        const unknown = address.next() ?? address;
        const own = async () =>
          (await host.neighbours.list({ link: 'hd0', family })).filter((each) =>
            each.address.equals(address),
          );
        await host.neighbours.add({ link: 'hd0', address, mac: MAC, protocol: 98 });
        const [made] = await own();
        assert.deepEqual(
          [made?.link, `${made?.mac}`, made?.state, made?.proxy, made?.protocol],
          [index, `${MAC}`, 0x80, false, 98],
        );
        await refused(host.neighbours.add({ link: 'hd0', address, mac: MAC }), 'EEXIST');
        await host.neighbours.replace({ link: 'hd0', address, mac: OTHER, state: 0x02 });
        const [changed] = await own();
        assert.deepEqual([`${changed?.mac}`, changed?.state], [`${OTHER}`, 0x02]);
        await host.neighbours.delete({ link: 'hd0', address });
        await refused(host.neighbours.delete({ link: 'hd0', address: unknown }), 'ENOENT');
        await refused(host.neighbours.add({ link: 99, address, mac: MAC }), 'ENODEV');
        await refused(
          host.neighbours.add({ link: 'hd0', address: unknown }),
          'EINVAL',
          'No link layer address given',
        );
      },
    },
    {
      name: `this host answers for ${text} as long as it is told to`,
      async run({ host }) {
        await pair(host);
        await host.neighbours.add({ link: 'hd0', address, proxy: true });
        assert.ok(!(await host.neighbours.list({ family })).some((each) => each.address.equals(address)));
        const [entry, ...others] = await host.neighbours.list({ proxy: true });
        assert.deepEqual([`${entry?.address}`, entry?.proxy, others.length], [text, true, 0]);
        await host.neighbours.delete({ link: 'hd0', address, proxy: true });
        await refused(host.neighbours.delete({ link: 'hd0', address, proxy: true }), 'ENOENT');
      },
    },
    {
      name: `a neighbour ${text} is forgotten when the link goes down`,
      async run({ host }) {
        await pair(host);
        await host.neighbours.add({ link: 'hd0', address, mac: MAC });
        await host.links.set('hd0', { up: false });
        assert.deepEqual(
          (await host.neighbours.list({ link: 'hd0', family })).filter((each) =>
            each.address.equals(address),
          ),
          [],
        );
      },
    },
  ];
});
