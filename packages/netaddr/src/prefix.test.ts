import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { Addr, Prefix } from './index.ts';

const prefixOf = (length: 4 | 16) =>
  fc
    .tuple(fc.uint8Array({ minLength: length, maxLength: length }), fc.nat(length * 8))
    .map(([bytes, bits]) => Prefix.of(Addr.fromBytes(bytes), bits));
const prefixes = fc.oneof(prefixOf(4), prefixOf(16));
const p = Prefix.parse;
const a = Addr.parse;

test('a prefix keeps its host bits and tells its parts', () => {
  const prefix = p('10.1.2.3/22');
  assert.equal(prefix.toString(), '10.1.2.3/22');
  assert.equal(JSON.stringify({ prefix }), '{"prefix":"10.1.2.3/22"}');
  assert.equal(prefix.family, 4);
  assert.equal(prefix.bits, 22);
  assert.deepEqual(prefix.addr, a('10.1.2.3'));
  assert.deepEqual(prefix.network, a('10.1.0.0'));
  assert.deepEqual(prefix.last, a('10.1.3.255'));
  assert.deepEqual(prefix.broadcast, a('10.1.3.255'));
  assert.deepEqual(prefix.mask(), a('255.255.252.0'));
  assert.deepEqual(prefix.masked(), p('10.1.0.0/22'));
  assert.equal(prefix.size(), 1024n);
  assert.ok(prefix.hasHostBits);
  assert.ok(!prefix.isSingle);
  assert.ok(!prefix.masked().hasHostBits);

  const six = p('2001:DB8::5/64');
  assert.equal(six.toString(), '2001:db8::5/64');
  assert.equal(`${six.masked()}`, '2001:db8::/64');
  assert.equal(`${six.last}`, '2001:db8::ffff:ffff:ffff:ffff');
  assert.equal(six.broadcast, undefined);
  assert.equal(`${six.mask()}`, 'ffff:ffff:ffff:ffff::');
  assert.equal(six.size(), 2n ** 64n);
});

test('the shortest and the longest lengths work', () => {
  assert.equal(`${Prefix.DEFAULT4}`, '0.0.0.0/0');
  assert.equal(`${Prefix.DEFAULT6}`, '::/0');
  assert.equal(`${Prefix.DEFAULT4.last}`, '255.255.255.255');
  assert.equal(`${Prefix.DEFAULT4.mask()}`, '0.0.0.0');
  assert.equal(Prefix.DEFAULT4.size(), 2n ** 32n);
  assert.equal(Prefix.DEFAULT6.size(), 2n ** 128n);
  assert.ok(Prefix.DEFAULT4.contains(a('255.255.255.255')));
  assert.equal(`${Prefix.host(a('10.0.0.1'))}`, '10.0.0.1/32');
  assert.equal(`${Prefix.host(a('::1'))}`, '::1/128');
  assert.ok(Prefix.host(a('::1')).isSingle);
  assert.equal(Prefix.host(a('10.0.0.1')).size(), 1n);
  assert.equal(`${Prefix.host(a('10.0.0.1')).mask()}`, '255.255.255.255');
});

test('only IPv4 networks shorter than /31 have a broadcast address', () => {
  assert.equal(`${p('10.0.0.1/30').broadcast}`, '10.0.0.3');
  assert.equal(p('10.0.0.0/31').broadcast, undefined);
  assert.equal(p('10.0.0.0/32').broadcast, undefined);
});

test('what is no prefix is refused with the reason', () => {
  const range4 = 'the prefix length is a number from 0 to 32';
  const range6 = 'the prefix length is a number from 0 to 128';
  const cases: readonly [string, string][] = [
    ['', 'no prefix length'],
    ['10.1.2.3', 'no prefix length'],
    ['/24', 'it is empty'],
    ['10.1.2/24', 'expected 4 octets, found 3'],
    ['10.1.2.3/', range4],
    ['10.1.2.3/33', range4],
    ['10.1.2.3/-1', range4],
    ['10.1.2.3/+8', range4],
    ['10.1.2.3/2.4', range4],
    ['10.1.2.3/1e1', range4],
    ['10.1.2.3/24/8', range4],
    ['10.1.2.3/ 24', range4],
    ['10.1.2.3/24\n', range4],
    ['10.1.2.3/255.255.255.0', range4],
    ['::1/129', range6],
    ['fe80::1%eth0/64', 'zone ids are not accepted'],
  ];
  for (const [text, reason] of cases) {
    assert.throws(() => p(text), {
      name: 'AddrError',
      code: 'ADDR_INVALID',
      message: `invalid CIDR address: ${text} (${reason})`,
    });
    assert.equal(Prefix.tryParse(text), undefined);
  }
  for (const bits of [-1, 33, 1.5, Number.NaN]) {
    assert.throws(() => Prefix.of(a('10.0.0.0'), bits), {
      message: `invalid CIDR address: 10.0.0.0/${bits} (${range4})`,
    });
  }
});

test('leading zeros of the length are accepted, as by net.ParseCIDR', () => {
  assert.equal(`${Prefix.tryParse('10.0.0.0/08')}`, '10.0.0.0/8');
});

test('membership ends exactly at the borders', () => {
  const net = p('10.1.2.3/23');
  assert.ok(net.contains(a('10.1.2.0')));
  assert.ok(net.contains(a('10.1.3.255')));
  assert.ok(!net.contains(a('10.1.1.255')));
  assert.ok(!net.contains(a('10.1.4.0')));
  assert.ok(!net.contains(a('::ffff:10.1.2.0')));
  assert.ok(!Prefix.DEFAULT4.contains(Addr.ZERO6));
  assert.ok(!Prefix.DEFAULT6.contains(Addr.ZERO4));
  assert.ok(net.containsPrefix(p('10.1.3.0/24')));
  assert.ok(net.containsPrefix(net));
  assert.ok(!net.containsPrefix(p('10.1.0.0/22')));
  assert.ok(net.overlaps(p('10.1.0.0/22')));
  assert.ok(net.overlaps(p('10.1.3.9/32')));
  assert.ok(!net.overlaps(p('10.1.4.0/23')));
  assert.ok(!Prefix.DEFAULT4.overlaps(Prefix.DEFAULT6));
});

test('equality takes the host bits into account', () => {
  assert.ok(p('10.0.0.1/8').equals(p('10.0.0.1/08')));
  assert.ok(!p('10.0.0.1/8').equals(p('10.0.0.0/8')));
  assert.ok(!p('10.0.0.1/8').equals(p('10.0.0.1/9')));
  assert.ok(!p('::/0').equals(p('0.0.0.0/0')));
});

test('prefixes are ordered by address, the wider first', () => {
  const sorted = ['0.0.0.0/0', '10.0.0.0/8', '10.0.0.0/16', '10.0.0.1/8', '::/0', '::/64', '2001:db8::/32'];
  assert.deepEqual(sorted.toReversed().map(p).toSorted(Prefix.compare).map(String), sorted);
});

test('a prefix survives its text, and agrees with ipaddr.js', () => {
  fc.assert(
    fc.property(prefixes, prefixes, (prefix, other) => {
      assert.deepEqual(p(prefix.toString()), prefix);
      const class_ = prefix.family === 4 ? ipaddr.IPv4 : ipaddr.IPv6;
      const theirs = (addr: { toByteArray(): number[] }) => Uint8Array.from(addr.toByteArray());
      assert.deepEqual(prefix.network.toBytes(), theirs(class_.networkAddressFromCIDR(`${prefix}`)));
      assert.deepEqual(prefix.last.toBytes(), theirs(class_.broadcastAddressFromCIDR(`${prefix}`)));
      assert.deepEqual(prefix.mask().toBytes(), theirs(class_.subnetMaskFromPrefixLength(prefix.bits)));
      const [network, bits] = ipaddr.parseCIDR(`${prefix}`);
      const addr = ipaddr.parse(`${other.addr}`);
      assert.equal(prefix.contains(other.addr), addr.kind() === network.kind() && addr.match(network, bits));
    }),
    { numRuns: 500 },
  );
});

test('containment, overlap and size follow from the first and last address', () => {
  // Neighbouring networks of a small space, so that all relations occur.
  const near = fc
    .tuple(fc.nat(255), fc.integer({ min: 24, max: 32 }))
    .map(([host, bits]) => p(`10.0.0.${host}/${bits}`));
  const inside = (addr: Addr, prefix: Prefix) =>
    Addr.compare(prefix.network, addr) <= 0 && Addr.compare(addr, prefix.last) <= 0;
  fc.assert(
    fc.property(near, near, (one, two) => {
      assert.equal(one.contains(two.addr), inside(two.addr, one));
      assert.equal(one.containsPrefix(two), inside(two.network, one) && inside(two.last, one));
      assert.equal(one.overlaps(two), inside(two.network, one) || inside(one.network, two));
      assert.equal(one.overlaps(two), two.overlaps(one));
      assert.equal(one.size(), one.network.distance(one.last) + 1n);
    }),
    { numRuns: 500 },
  );
});
