import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { Addr, AddrError } from './index.ts';

const bytes4 = fc.uint8Array({ minLength: 4, maxLength: 4 });
// Zero bytes often, so that runs of zero groups of every length and place occur.
const sparseByte = fc.oneof(fc.constant(0), fc.nat(255));
const bytes16 = fc.array(sparseByte, { minLength: 16, maxLength: 16 }).map((bytes) => Uint8Array.from(bytes));
const addresses = fc.oneof(bytes4, bytes16).map((bytes) => Addr.fromBytes(bytes));

test('texts of RFC 4291 and RFC 5952 are read, and written in canonical form', () => {
  const cases: readonly [string, string][] = [
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['10.20.30.4', '10.20.30.4'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['2001:DB8:AAAA:BBBB:CCCC:DDDD:EEEE:ffff', '2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:db8::1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['0:0:1:0:0:0:0:0', '0:0:1::'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
    ['1:2:3::5:6:7:8', '1:2:3:0:5:6:7:8'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['1:2:3:4:5:6:7.8.9.10', '1:2:3:4:5:6:708:90a'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    ['::ffff:a00:1', '::ffff:10.0.0.1'],
    ['::10.0.0.1', '::a00:1'],
    ['fe80::', 'fe80::'],
  ];
  for (const [text, canonical] of cases) {
    assert.equal(Addr.parse(text).toString(), canonical, text);
    assert.equal(JSON.stringify(Addr.parse(text)), `"${canonical}"`);
    assert.ok(Addr.parse(canonical).equals(Addr.parse(text)), text);
  }
});

test('what is no address is refused with the reason', () => {
  const cases: readonly [string, string][] = [
    ['', 'it is empty'],
    ['eth0', 'neither IPv4 nor IPv6'],
    ['10', 'neither IPv4 nor IPv6'],
    ['10.1.2', 'expected 4 octets, found 3'],
    ['10.1.2.', 'octet 4 is empty'],
    ['.1.2.3', 'octet 1 is empty'],
    ['10..2.3', 'octet 2 is empty'],
    ['10.1.2.3.4', 'more than 4 octets'],
    ['10.1.2.3.', 'more than 4 octets'],
    ['10.1.2.256', 'octet 4 is above 255'],
    ['10.1.02.3', 'octet 3 has a leading zero'],
    ['10.1.00.3', 'octet 3 has a leading zero'],
    ['10.1.2.3/24', 'unexpected "/"'],
    ['10.1.2.-3', 'unexpected "-"'],
    ['0x0a.1.2.3', 'unexpected "x"'],
    [' 10.1.2.3', 'unexpected " "'],
    ['10.1.2.3\n', 'unexpected "\\n"'],
    ['10.1.2.٣', 'unexpected "٣"'],
    ['1.2.3.4:80', 'unexpected ":"'],
    [':', 'group 1 is empty'],
    [':1', 'group 1 is empty'],
    [':::', 'group 1 is empty'],
    ['1:', 'it ends in a single colon'],
    ['::1:', 'it ends in a single colon'],
    ['1::2::3', 'more than one "::"'],
    ['1:::2', 'group 2 is empty'],
    ['1:2:3', 'expected 8 groups, found 3'],
    ['1:2:3:4:5:6:7:8:9', 'more than 8 groups'],
    ['1:2:3:4::5:6:7:8', '"::" must stand for at least one group'],
    ['1:2:3:4:5:6:7:8::', '"::" must stand for at least one group'],
    ['::12345', 'group 1 has more than 4 digits'],
    ['1:00000:', 'group 2 has more than 4 digits'],
    ['::g', 'unexpected "g"'],
    ['::1g', 'unexpected "g"'],
    ['::1 ', 'unexpected " "'],
    ['[::1]', 'unexpected "["'],
    ['fe80::1%eth0', 'zone ids are not accepted'],
    ['::1.2.3', 'expected 4 octets, found 3'],
    ['::01.2.3.4', 'octet 1 has a leading zero'],
    ['::1.2.3.4:5', 'unexpected ":"'],
    ['1:2:3:1.2.3.4', 'an embedded IPv4 address takes the place of the last 2 groups'],
    ['1:2:3:4:5:6:7:1.2.3.4', 'an embedded IPv4 address takes the place of the last 2 groups'],
    ['1:2:3::4:5:6:1.2.3.4', '"::" must stand for at least one group'],
  ];
  for (const [text, reason] of cases) {
    assert.throws(() => Addr.parse(text), {
      name: 'AddrError',
      code: 'ADDR_INVALID',
      message: `invalid IP address: ${text} (${reason})`,
    });
    assert.equal(Addr.tryParse(text), undefined);
  }
  assert.throws(
    () => Addr.parse('x'.repeat(1000)),
    (error) => error instanceof AddrError && error.message.length < 200,
  );
});

test('every address survives its text and its bytes', () => {
  fc.assert(
    fc.property(addresses, (addr) => {
      assert.deepEqual(Addr.parse(addr.toString()), addr);
      assert.deepEqual(Addr.fromBytes(addr.toBytes()), addr);
    }),
  );
});

test('texts are those of ipaddr.js', () => {
  fc.assert(
    fc.property(bytes4, (bytes) => {
      assert.equal(`${Addr.fromBytes(bytes)}`, `${ipaddr.fromByteArray([...bytes])}`);
    }),
  );
  fc.assert(
    fc.property(bytes16, (bytes) => {
      const theirs = new ipaddr.IPv6([...bytes]);
      const ours = Addr.fromBytes(bytes);
      if (!ours.is4In6) assert.equal(ours.toString(), theirs.toRFC5952String());
      assert.equal(Addr.parse(theirs.toNormalizedString()).toString(), ours.toString());
    }),
  );
});

test('what the strict parser reads, ipaddr.js reads as the same bytes', () => {
  const char = fc.constantFrom(...'0123459afF:::...%/ '.split(''));
  fc.assert(
    fc.property(
      fc.array(char, { maxLength: 24 }).map((chars) => chars.join('')),
      (text) => {
        const addr = Addr.tryParse(text);
        if (addr !== undefined) assert.deepEqual([...addr.toBytes()], ipaddr.parse(text).toByteArray());
      },
    ),
    { numRuns: 2000 },
  );
});

test('bytes are copied, and only 4 or 16 make an address', () => {
  const source = Uint8Array.of(9, 10, 1, 2, 3, 9);
  const addr = Addr.fromBytes(source.subarray(1, 5));
  source.fill(0);
  assert.equal(`${addr}`, '10.1.2.3');
  addr.toBytes().fill(0);
  assert.equal(`${addr}`, '10.1.2.3');
  for (const length of [0, 3, 5, 8, 17]) {
    assert.throws(() => Addr.fromBytes(new Uint8Array(length)), {
      message: `invalid IP address: ${length} bytes (expected 4 or 16)`,
    });
  }
});

test('different addresses differ for structural comparison too', () => {
  assert.notDeepStrictEqual(Addr.parse('10.0.0.1'), Addr.parse('10.0.0.2'));
  assert.notDeepStrictEqual(Addr.ZERO4, Addr.ZERO6);
});

test('addresses are ordered by family, then value', () => {
  const sorted = ['0.0.0.0', '9.255.255.255', '10.0.0.0', '127.0.0.1', '128.0.0.0', '255.0.0.0'];
  sorted.push('::', '::1', '::1:0:0', '7fff::', '8000::', 'ffff::');
  const shuffled = sorted.toReversed().map((text) => Addr.parse(text));
  assert.deepEqual(shuffled.toSorted(Addr.compare).map(String), sorted);
});

test('steps carry from word to word and end with the space', () => {
  const cases: readonly [string, number | bigint, string | undefined][] = [
    ['10.0.0.255', 1, '10.0.1.0'],
    ['10.255.255.255', 1, '11.0.0.0'],
    ['127.255.255.255', 1, '128.0.0.0'],
    ['10.0.0.0', -1, '9.255.255.255'],
    ['10.0.0.7', 0, '10.0.0.7'],
    ['0.0.0.0', 2 ** 32 - 1, '255.255.255.255'],
    ['255.255.255.255', -(2 ** 32 - 1), '0.0.0.0'],
    ['0.0.0.0', 2 ** 32, undefined],
    ['255.255.255.255', 1, undefined],
    ['0.0.0.0', -1, undefined],
    ['0.0.0.1', -(2n ** 80n), undefined],
    ['::ffff:ffff', 1, '::1:0:0'],
    ['::1:0:0', -1, '::ffff:ffff'],
    ['::ffff:ffff:ffff:ffff', 1, '0:0:0:1::'],
    ['::ffff:ffff:ffff:ffff:ffff:ffff', 1, '0:1::'],
    ['0:1::', -1, '::ffff:ffff:ffff:ffff:ffff:ffff'],
    ['8000::', -1, '7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['::', 2n ** 127n, '8000::'],
    ['::', 2n ** 128n - 1n, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['::', 2n ** 128n, undefined],
    ['::', -1, undefined],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 1, undefined],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', -(2n ** 128n - 1n), '::'],
    ['::1', Number.MAX_SAFE_INTEGER, '::20:0:0:0'],
    ['2001:db8::', 2 ** 51, '2001:db8:0:0:8::'],
  ];
  for (const [from, n, to] of cases) assert.equal(Addr.parse(from).add(n)?.toString(), to, `${from} + ${n}`);
  assert.equal(Addr.parse('10.0.0.255').next()?.toString(), '10.0.1.0');
  assert.equal(Addr.parse('10.0.1.0').prev()?.toString(), '10.0.0.255');
  assert.throws(() => Addr.ZERO4.add(1.5), RangeError);
});

test('adding and distance are inverse', () => {
  const steps = fc.oneof(
    fc.maxSafeInteger(),
    fc.integer(),
    fc.bigInt({ min: -(2n ** 129n), max: 2n ** 129n }),
    fc.constantFrom(2 ** 52, 2 ** 52 - 1, -(2 ** 52), 1 - 2 ** 52),
  );
  fc.assert(
    fc.property(addresses, steps, (addr, n) => {
      const there = addr.add(n);
      const value = (addr.family === 4 ? Addr.ZERO4 : Addr.ZERO6).distance(addr) + BigInt(n);
      assert.equal(there !== undefined, value >= 0n && value < 2n ** BigInt(addr.bits));
      if (there === undefined) return;
      assert.equal(addr.distance(there), BigInt(n));
      assert.equal(Math.sign(Addr.compare(there, addr)), Math.sign(Number(n)));
    }),
    { numRuns: 500 },
  );
  assert.throws(() => Addr.ZERO4.distance(Addr.ZERO6), {
    message: 'no distance from 0.0.0.0 to :: (families differ)',
  });
});

test('common bits count from the top, at every length', () => {
  for (const zero of [Addr.ZERO4, Addr.ZERO6]) {
    for (let bits = 0; bits <= zero.bits; bits++) {
      const other = zero.filled(bits);
      assert.equal(zero.commonBits(other), bits);
      assert.equal(other.distance(zero.filled(0)), 2n ** BigInt(zero.bits) - 2n ** BigInt(zero.bits - bits));
    }
  }
  assert.equal(Addr.ZERO4.commonBits(Addr.ZERO6), 0);
});

test('an IPv4-mapped address is IPv6 until it is unmapped', () => {
  const mapped = Addr.parse('::ffff:10.0.0.1');
  assert.equal(mapped.family, 6);
  assert.equal(mapped.bits, 128);
  assert.ok(mapped.is4In6);
  assert.ok(!mapped.equals(Addr.parse('10.0.0.1')));
  assert.deepEqual(mapped.unmap(), Addr.parse('10.0.0.1'));
  const plain = Addr.parse('2001:db8::1');
  assert.equal(plain.unmap(), plain);
  assert.ok(!Addr.parse('::10.0.0.1').is4In6);
});

test('scopes follow Go, and look through IPv4-mapped addresses', () => {
  const all = ['isUnspecified', 'isLoopback', 'isMulticast', 'isLinkLocal', 'isGlobalUnicast'] as const;
  const cases: readonly [string, (typeof all)[number] | undefined][] = [
    ['0.0.0.0', 'isUnspecified'],
    ['::', 'isUnspecified'],
    ['::ffff:0.0.0.0', 'isUnspecified'],
    ['127.0.0.1', 'isLoopback'],
    ['127.255.0.9', 'isLoopback'],
    ['::1', 'isLoopback'],
    ['::ffff:127.0.0.1', 'isLoopback'],
    ['224.0.0.1', 'isMulticast'],
    ['239.255.255.255', 'isMulticast'],
    ['ff02::1', 'isMulticast'],
    ['::ffff:224.0.0.1', 'isMulticast'],
    ['169.254.0.1', 'isLinkLocal'],
    ['fe80::1', 'isLinkLocal'],
    ['febf::1', 'isLinkLocal'],
    ['::ffff:169.254.1.1', 'isLinkLocal'],
    ['255.255.255.255', undefined],
    ['::ffff:255.255.255.255', undefined],
    ['10.0.0.1', 'isGlobalUnicast'],
    ['8.8.8.8', 'isGlobalUnicast'],
    ['223.255.255.255', 'isGlobalUnicast'],
    ['240.0.0.1', 'isGlobalUnicast'],
    ['0.0.0.1', 'isGlobalUnicast'],
    ['169.253.0.1', 'isGlobalUnicast'],
    ['fd00::1', 'isGlobalUnicast'],
    ['fec0::1', 'isGlobalUnicast'],
    ['fe7f::1', 'isGlobalUnicast'],
    ['2001:db8::1', 'isGlobalUnicast'],
    ['::2', 'isGlobalUnicast'],
    ['::1:0:0:1', 'isGlobalUnicast'],
  ];
  for (const [text, scope] of cases) {
    const addr = Addr.parse(text);
    assert.deepEqual(
      all.filter((name) => addr[name]),
      scope === undefined ? [] : [scope],
      text,
    );
  }
});
