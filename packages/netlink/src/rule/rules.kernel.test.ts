import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Prefix } from '@heddle/netaddr';
import { NetlinkError } from '../core/netlink-error.ts';
import { TestNetns } from '../testing/test-netns.ts';

test('a fresh namespace has the rules that every one has', async () => {
  using lab = new TestNetns();
  const rules = await lab.session.rules.list();
  assert.deepEqual(
    rules.map(({ family, priority, table }) => [family, priority, table]),
    [
      [4, 0, 255],
      [4, 32766, 254],
      [4, 32767, 253],
      [6, 0, 255],
      [6, 32766, 254],
    ],
  );
});

for (const from of ['10.1.0.2/32', 'fd00::2/128']) {
  test(`a rule from ${from} is made by the defaults, and deleted as it was listed`, async () => {
    using lab = new TestNetns();
    const { rules } = lab.session;
    const prefix = Prefix.parse(from);
    await rules.add({ from: prefix, table: 1000 });
    const [rule] = await rules.list({ table: 1000 });
    assert.equal(rule?.family, prefix.family);
    assert.ok(rule.from?.equals(prefix));
    assert.deepEqual([rule.action, rule.priority], ['table', 32765]);
    const [, seen] = lab.json('ip', '-d', '-j', `-${prefix.family}`, 'rule', 'show');
    assert.deepEqual(
      [seen?.['src'], seen?.['table'], seen?.['priority']],
      [String(prefix.addr), '1000', 32765],
    );
    await rules.delete(rule);
    assert.deepEqual(await rules.list({ table: 1000 }), []);
    await assert.rejects(rules.delete(rule), (error) => NetlinkError.is(error, 'ENOENT'));
  });
}

test('everything that a rule may say', async () => {
  using lab = new TestNetns();
  const { rules } = lab.session;
  await rules.add({
    from: Prefix.parse('10.0.0.0/8'),
    to: Prefix.parse('192.0.2.0/24'),
    iif: 'lo',
    fwmark: 0x100,
    fwmask: 0xff00,
    priority: 1234,
    table: 200,
    protocol: 99,
    invert: true,
    suppressPrefixLength: 0,
    ipProtocol: 6,
    destinationPorts: { start: 80, end: 90 },
  });
  const [rule] = await rules.list({ priority: 1234, protocol: 99 });
  assert.deepEqual(rule, {
    family: 4,
    priority: 1234,
    from: Prefix.parse('10.0.0.0/8'),
    to: Prefix.parse('192.0.2.0/24'),
    iif: 'lo',
    fwmark: 0x100,
    fwmask: 0xff00,
    table: 200,
    action: 'table',
    invert: true,
    suppressPrefixLength: 0,
    protocol: 99,
    ipProtocol: 6,
    destinationPorts: { start: 80, end: 90 },
  });
  const seen = lab.json('ip', '-d', '-j', 'rule', 'show', 'priority', '1234')[0];
  assert.deepEqual(
    [
      seen?.['src'],
      seen?.['srclen'],
      seen?.['dst'],
      seen?.['iif'],
      seen?.['fwmark'],
      seen?.['fwmask'],
      seen?.['not'],
    ],
    ['10.0.0.0', 8, '192.0.2.0', 'lo', '0x100', '0xff00', null],
  );
  await rules.delete(rule);
});

test('a rule for IPv6 without an address; one that drops', async () => {
  using lab = new TestNetns();
  const { rules } = lab.session;
  await rules.add({ family: 6, oif: 'lo', priority: 10, action: 'unreachable' });
  const [rule] = await rules.list({ priority: 10 });
  assert.deepEqual([rule?.family, rule?.oif, rule?.action], [6, 'lo', 'unreachable']);
});
