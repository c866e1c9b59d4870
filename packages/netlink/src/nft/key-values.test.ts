import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr, AddrRange, Mac, Prefix } from '@heddle/netaddr';
import fc from 'fast-check';
import { type KeyType, numberOf, typesOf } from './key-types.ts';
import { decodeKey, encodeKey, formatKey, type KeyValue, nextBytes, previousBytes } from './key-values.ts';
import { keyLength } from './set-types.ts';

const A = Addr.parse;
const P = Prefix.parse;

describe('a key', () => {
  const rows: readonly (readonly [readonly KeyType[], KeyValue, string, string?])[] = [
    [['ipv4_addr'], A('10.0.0.1'), '0a000001'],
    [['ipv4_addr'], '10.0.0.1', '0a000001'],
    [['ipv4_addr'], P('10.0.0.5/8'), '0a000000', '0affffff'],
    [['ipv4_addr'], P('10.0.0.5/32'), '0a000005'],
    [['ipv6_addr'], P('fd00::/8'), 'fd000000000000000000000000000000', 'fdffffffffffffffffffffffffffffff'],
    [['ipv4_addr'], AddrRange.of(A('1.0.0.1'), A('1.0.0.9')), '01000001', '01000009'],
    [['ether_addr'], Mac.parse('0a:58:00:00:00:01'), '0a5800000001'],
    [['inet_service'], 8080, '1f90'],
    [['inet_proto'], 'sctp', '84'],
    [['ifname'], 'eth0', '65746830000000000000000000000000'],
    [['ipv4_addr', 'inet_proto', 'inet_service'], [A('10.0.0.1'), 'tcp', 80], '0a0000010600000000500000'],
    [
      ['ipv4_addr', 'inet_service'],
      [P('10.0.0.0/24'), { from: 80, to: 90 }],
      '0a00000000500000',
      '0a0000ff005a0000',
    ],
    [['ipv4_addr', 'inet_service'], [P('10.0.0.0/24'), 80], '0a00000000500000', '0a0000ff00500000'],
    [[{ number: 99, length: 3 }], Uint8Array.of(1, 2, 3), '010203'],
  ];
  for (const [types, key, start, end] of rows) {
    test(`${formatKey(key)} is ${start}${end === undefined ? '' : ` to ${end}`}`, () => {
      const bytes = encodeKey(types, key);
      assert.equal(hex(bytes.start), start);
      assert.equal(bytes.end === undefined ? undefined : hex(bytes.end), end);
      assert.equal(bytes.start.length, keyLength(types));
      const again = encodeKey(types, decodeKey(types, bytes.start, bytes.end));
      assert.deepEqual(again, bytes);
    });
  }

  test('of host order has the bytes of this machine', () => {
    const native = new Uint8Array(new Uint32Array([0x400]).buffer);
    assert.deepEqual(encodeKey(['mark'], 0x400).start, native);
    assert.equal(decodeKey(['mark'], native), 0x400);
  });

  test('of other types than those of the set is refused', () => {
    const refused: readonly (readonly [readonly KeyType[], KeyValue, RegExp])[] = [
      [['ipv4_addr'], A('::1'), /^::1 is no ipv4_addr$/],
      [['ipv6_addr'], 'fe80::1%eth0', /is no ipv6_addr/],
      [['ipv4_addr', 'inet_service'], A('1.2.3.4'), /key 1\.2\.3\.4 has 1 of 2 components/],
      [['inet_service'], 65536, /65536 is no inet_service/],
      [['inet_service'], -1, /-1 is no inet_service/],
      [['inet_service'], 1.5, /1\.5 is no inet_service/],
      [['ifname'], 'a-name-of-16-char', /is no ifname/],
      [['ifname'], 'eth*', /wildcard/],
      [['ifname'], '', /is no ifname/],
      [['mark'], { from: 1, to: 2 }, /host order/],
      [[{ number: 99, length: 3 }], Uint8Array.of(1), /1 bytes is no type 99/],
    ];
    for (const [types, key, message] of refused) {
      assert.throws(() => encodeKey(types, key), { name: 'NftError', code: 'NFT_INVALID', message });
    }
  });

  test('names what may stand for a number', () => {
    assert.throws(() => encodeKey(['inet_proto'], 'tpc'), { hint: /^names are icmp, tcp, udp/ });
  });
});

test('a range of addresses that is a prefix reads as one', () => {
  const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
  fc.assert(
    fc.property(octets, fc.integer({ min: 0, max: 32 }), (octet, bits) => {
      const prefix = Prefix.of(A(octet.join('.')), bits);
      const { start, end } = encodeKey(['ipv4_addr'], prefix);
      assert.equal(
        formatKey(decodeKey(['ipv4_addr'], start, end)),
        String(prefix.isSingle ? prefix.addr : prefix.masked()),
      );
    }),
  );
});

test('the number of a concatenation tells its types', () => {
  const names: readonly KeyType[] = [
    'ipv4_addr',
    'ipv6_addr',
    'ether_addr',
    'inet_proto',
    'inet_service',
    'mark',
    'ifname',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 5 }), (types) => {
      assert.deepEqual(typesOf(numberOf(types), keyLength(types)), types);
    }),
  );
  assert.equal(numberOf(['ipv4_addr', 'inet_proto', 'inet_service']), 29453);
});

test('types that are not known are kept by number and length', () => {
  assert.deepEqual(typesOf(4, 4), [{ number: 4, length: 4 }]);
  assert.deepEqual(typesOf(7, 16), [{ number: 7, length: 16 }]);
  // An integer has no length of its own, so the components cannot be told.
  assert.deepEqual(typesOf((7 << 6) | 4, 8), [{ number: 452, length: 8 }]);
  assert.deepEqual(typesOf(0, 4), [{ number: 0, length: 4 }]);
});

test('byte strings have neighbours of their length, but at the ends', () => {
  assert.deepEqual(nextBytes(Uint8Array.of(1, 255)), Uint8Array.of(2, 0));
  assert.deepEqual(previousBytes(Uint8Array.of(2, 0)), Uint8Array.of(1, 255));
  assert.equal(nextBytes(Uint8Array.of(255, 255)), undefined);
  assert.equal(previousBytes(Uint8Array.of(0, 0)), undefined);
});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
