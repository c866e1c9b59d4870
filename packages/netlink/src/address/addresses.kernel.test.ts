import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { NetlinkError } from '../core/netlink-error.ts';
import { TestNetns } from '../testing/test-netns.ts';

async function labWithLink(): Promise<TestNetns> {
  const lab = new TestNetns();
  await lab.session.links.add({ name: 'hd0', kind: 'veth', up: true, peer: { name: 'hd1' } });
  return lab;
}

/** What `ip` says of the addresses of `hd0`. */
function seen(lab: TestNetns): Record<string, unknown>[] {
  return (lab.json('ip', '-d', '-j', 'address', 'show', 'hd0')[0]?.['addr_info'] ?? []) as Record<
    string,
    unknown
  >[];
}

const CASES = [
  { text: '10.1.2.3/24', broadcast: '10.1.2.255' },
  { text: '10.1.2.3/31', broadcast: undefined },
  { text: '10.1.2.3/32', broadcast: undefined },
  { text: 'fd00:1::2/64', broadcast: undefined },
] as const;
for (const { text, broadcast } of CASES) {
  test(`${text} is added, listed and deleted`, async () => {
    using lab = await labWithLink();
    const { addresses } = lab.session;
    const prefix = Prefix.parse(text);
    await addresses.add({ link: 'hd0', prefix, broadcast: 'auto', noDad: true });
    const listed = (await addresses.list({ link: 'hd0' })).filter((each) => each.prefix.equals(prefix));
    assert.equal(listed.length, 1);
    assert.equal(listed[0]?.broadcast?.toString(), broadcast);
    assert.equal(listed[0]?.permanent, true);
    assert.equal(listed[0]?.tentative, false);
    const other = seen(lab).find(({ local }) => local === String(prefix.addr));
    assert.equal(other?.['prefixlen'], prefix.bits);
    assert.equal(other?.['broadcast'], broadcast);
    assert.equal(other?.['scope'], 'global');

    await assert.rejects(addresses.add({ link: 'hd0', prefix }), (error) => {
      assert.ok(NetlinkError.is(error, 'EEXIST'));
      assert.ok(error.message.startsWith(`add address ${text} dev hd0: EEXIST`));
      return true;
    });
    await addresses.delete({ link: 'hd0', prefix });
    assert.ok(!(await addresses.list({ link: 'hd0' })).some((each) => each.prefix.equals(prefix)));
    await assert.rejects(addresses.delete({ link: 'hd0', prefix }), (error) =>
      NetlinkError.is(error, 'EADDRNOTAVAIL'),
    );
  });
}

test('an IPv6 address is tentative until duplicate address detection is over', async () => {
  using lab = await labWithLink();
  await lab.session.links.set('hd1', { up: true });
  await lab.session.addresses.add({ link: 'hd0', prefix: Prefix.parse('fd00::1/64') });
  const [address] = await lab.session.addresses.list({ link: 'hd0', family: 6 });
  assert.equal(address?.tentative, true);
});

test('an address that another host has is marked as a duplicate', async () => {
  using lab = await labWithLink();
  using other = new TestNetns();
  await lab.session.links.set('hd1', { netns: other.handle });
  await other.session.links.set('hd1', { up: true });
  const prefix = Prefix.parse('fd00::1/64');
  await other.session.addresses.add({ link: 'hd1', prefix, noDad: true });
  await lab.session.addresses.add({ link: 'hd0', prefix });
  const find = async () =>
    (await lab.session.addresses.list({ link: 'hd0', family: 6 })).find((each) => each.prefix.equals(prefix));
  let address = await find();
  while (address?.tentative && !address.dadFailed) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    address = await find();
  }
  assert.equal(address?.dadFailed, true);
});

test('peer, lifetimes, label, protocol and scope', async () => {
  using lab = await labWithLink();
  const { addresses } = lab.session;
  const prefix = Prefix.parse('192.0.2.1/32');
  await addresses.add({
    link: 'hd0',
    prefix,
    peer: Addr.parse('192.0.2.9'),
    label: 'hd0:x',
    scope: 253,
    protocol: 77,
    noPrefixRoute: true,
    validLifetime: 600,
    preferredLifetime: 300,
  });
  const [address] = await addresses.list({ family: 4 });
  assert.equal(String(address?.peer), '192.0.2.9');
  assert.deepEqual(
    [address?.label, address?.scope, address?.protocol, address?.permanent],
    ['hd0:x', 253, 77, false],
  );
  const [other] = seen(lab);
  assert.deepEqual(
    [other?.['local'], other?.['address'], other?.['label']],
    ['192.0.2.1', '192.0.2.9', 'hd0:x'],
  );
  assert.equal(other?.['noprefixroute'], true);
  assert.ok(Number(other?.['valid_life_time']) > 500 && Number(other?.['preferred_life_time']) <= 300);

  await addresses.replace({ link: 'hd0', prefix, peer: Addr.parse('192.0.2.9'), label: 'hd0:x', scope: 253 });
  assert.equal((await addresses.list({ family: 4 }))[0]?.permanent, true);
});

test('addresses are listed by link and family', async () => {
  using lab = await labWithLink();
  const { addresses, links } = lab.session;
  await links.set('lo', { up: true });
  await addresses.add({ link: 'hd0', prefix: Prefix.parse('10.0.0.1/24') });
  assert.deepEqual(
    (await addresses.list({ family: 4 })).map(({ prefix }) => `${prefix}`),
    ['127.0.0.1/8', '10.0.0.1/24'],
  );
  assert.deepEqual(
    (await addresses.list({ link: 'lo' })).map(({ prefix }) => `${prefix}`),
    ['127.0.0.1/8', '::1/128'],
  );
  await assert.rejects(addresses.list({ link: 'hd9' }), (error) => NetlinkError.is(error, 'ENODEV'));
});
