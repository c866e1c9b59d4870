import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Prefix } from '@heddle/netaddr';
import { NetlinkError } from '../index.ts';
import { TestNetns } from '../testing/test-netns.ts';

const PREFIX = Prefix.parse('10.1.2.1/24');

for (const mode of ['sync', 'threaded'] as const) {
  test(`changes and questions share a send, and are carried out in order (${mode})`, async () => {
    using lab = new TestNetns(mode);
    const { links, addresses } = lab.session;
    const { index } = await links.make({ name: 'hd0', kind: 'bridge' });
    const seen = await lab.session.together([
      links.plan.set(index, { alias: 'who: me', up: true }),
      addresses.plan.add({ link: index, prefix: PREFIX }),
      links.ask.get(index),
      links.ask.find('hd1'),
      addresses.ask.list(index),
    ]);
    assert.equal(seen[0], undefined);
    assert.equal(seen[2].alias, 'who: me');
    assert.equal(seen[3], undefined);
    assert.ok(seen[4]?.some(({ prefix }) => prefix.equals(PREFIX)));
  });

  test(`what is refused does not keep the rest from being done, and is told (${mode})`, async () => {
    using lab = new TestNetns(mode);
    const { links } = lab.session;
    const { index } = await links.make({ name: 'hd0', kind: 'bridge' });
    await assert.rejects(
      lab.session.together([
        links.plan.set(4242, { up: true }),
        links.plan.set(index, { alias: 'set all the same' }),
        links.ask.get('hd1'),
      ]),
      /2 of 3 requests: set link #4242: ENODEV.*; get link hd1: ENODEV/,
    );
    assert.equal((await links.get(index)).alias, 'set all the same');
    await assert.rejects(
      lab.session.together([links.ask.get(index), links.ask.get('hd1')]),
      (error) => NetlinkError.is(error, 'ENODEV') && /^get link hd1: ENODEV/.test(error.message),
    );
  });

  test(`a link that is made is told of, with its other end (${mode})`, async () => {
    using host = new TestNetns(mode);
    using pod = new TestNetns(mode);
    const { links } = host.session;
    const { index: master } = await links.make({ name: 'hdbr', kind: 'bridge', up: true });
    const made = await links.make({
      ...{ name: 'hd0', kind: 'veth', up: true, master },
      peer: { name: 'eth0', netns: pod.handle },
    });
    const now = await links.get('hd0');
    assert.deepEqual([made.index, made.mac, made.parent], [now.index, now.mac, now.parent]);
    assert.equal(made.parent, (await pod.session.links.get('eth0')).index);
    await assert.rejects(links.make({ name: 'hd0', kind: 'bridge' }), (error) =>
      NetlinkError.is(error, 'EEXIST'),
    );
  });
}
