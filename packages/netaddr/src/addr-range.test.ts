import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Addr, AddrRange, Prefix } from './index.ts';

const range = (first: string, last: string) => AddrRange.of(Addr.parse(first), Addr.parse(last));

test('a range includes both ends', () => {
  const pool = range('10.0.0.5', '10.0.0.8');
  assert.equal(`${pool}`, '10.0.0.5-10.0.0.8');
  assert.equal(JSON.stringify(pool), '"10.0.0.5-10.0.0.8"');
  assert.equal(pool.size(), 4n);
  for (const inside of ['10.0.0.5', '10.0.0.6', '10.0.0.8']) assert.ok(pool.contains(Addr.parse(inside)));
  for (const outside of ['10.0.0.4', '10.0.0.9', '::a00:5', '::ffff:10.0.0.5']) {
    assert.ok(!pool.contains(Addr.parse(outside)), outside);
  }
  assert.equal(range('::1', '::1').size(), 1n);
  assert.ok(pool.equals(range('10.0.0.5', '10.0.0.8')));
  assert.ok(!pool.equals(range('10.0.0.5', '10.0.0.9')));
});

test('ranges overlap when they share an address', () => {
  const pool = range('10.0.0.5', '10.0.0.8');
  assert.ok(pool.overlaps(range('10.0.0.8', '10.0.0.9')));
  assert.ok(pool.overlaps(range('10.0.0.0', '10.0.0.5')));
  assert.ok(pool.overlaps(range('10.0.0.6', '10.0.0.7')));
  assert.ok(pool.overlaps(range('0.0.0.0', '255.255.255.255')));
  assert.ok(!pool.overlaps(range('10.0.0.0', '10.0.0.4')));
  assert.ok(!pool.overlaps(range('10.0.0.9', '10.0.0.10')));
  assert.ok(!pool.overlaps(range('::', 'ffff::')));
});

test('ends in the wrong order or of different families are refused', () => {
  assert.throws(() => range('10.0.0.2', '10.0.0.1'), {
    code: 'ADDR_INVALID',
    message: 'invalid address range: 10.0.0.2-10.0.0.1 (first comes after last)',
  });
  assert.throws(() => range('10.0.0.2', '::1'), {
    code: 'ADDR_INVALID',
    message: 'invalid address range: 10.0.0.2-::1 (families differ)',
  });
});

test('a prefix is a range and comes back as one', () => {
  for (const text of [
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/24',
    '255.255.255.255/32',
    'ffff::/16',
    '2001:db8::/61',
  ]) {
    const prefix = Prefix.parse(text);
    assert.deepEqual(AddrRange.ofPrefix(prefix).toPrefixes(), [prefix]);
  }
  assert.equal(`${AddrRange.ofPrefix(Prefix.parse('10.0.0.77/24'))}`, '10.0.0.0-10.0.0.255');
});

test('the worst range of each family is covered by twice its bits less two', () => {
  assert.equal(range('0.0.0.1', '255.255.255.254').toPrefixes().length, 62);
  assert.equal(range('::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe').toPrefixes().length, 254);
});

test('prefixes cover a range exactly, in order, and no two could be one', () => {
  const near = fc.tuple(
    fc.constantFrom('0.0.0.0', '10.0.0.0', '::', '::fffe:ff00'),
    fc.nat(4000),
    fc.nat(4000),
  );
  const wide = fc
    .tuple(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.uint8Array({ minLength: 16, maxLength: 16 }))
    .map((ends) => ends.map((bytes) => Addr.fromBytes(bytes)));
  const ranges = fc.oneof(
    near.map(([base, from, more]) => {
      const first = Addr.parse(base).add(from) ?? Addr.ZERO4;
      return AddrRange.of(first, first.add(more) ?? first);
    }),
    wide.map((ends) => {
      const [first = Addr.ZERO6, last = first] = ends.toSorted(Addr.compare);
      return AddrRange.of(first, last);
    }),
  );
  fc.assert(
    fc.property(ranges, (whole) => {
      const prefixes = whole.toPrefixes();
      let expected: Addr | undefined = whole.first;
      for (const [index, prefix] of prefixes.entries()) {
        assert.ok(expected !== undefined && prefix.addr.equals(expected) && !prefix.hasHostBits);
        expected = prefix.last.next();
        const after = prefixes[index + 1];
        const halves = after?.bits === prefix.bits && after.addr.commonBits(prefix.addr) === prefix.bits - 1;
        assert.ok(!halves, `${prefix} and ${after} are one prefix`);
      }
      assert.deepEqual(prefixes.at(-1)?.last, whole.last);
      assert.equal(
        prefixes.reduce((sum, prefix) => sum + prefix.size(), 0n),
        whole.size(),
      );
    }),
  );
});
