import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { type Codec, decode, encode, WireError } from '@heddle/wire';
import fc from 'fast-check';
import { classfulRoutes, classlessRoutes, domainList, domainName, text } from './values.ts';

/** Objects as everybody makes them. */
const PLAIN = { noNullPrototype: true } as const;

const hex = (digits: string) => new Uint8Array(Buffer.from(digits.replaceAll(' ', ''), 'hex'));
const route = (destination: string, router: string) => ({
  destination: Prefix.parse(destination),
  router: Addr.parse(router),
});

test('text ends before the NULs that some servers add', () => {
  assert.equal(decode(text, hex('77656200 00')), 'web');
  assert.deepEqual(encode(text, 'wéb'), new Uint8Array(Buffer.from('wéb')));
});

test('a domain name cannot smuggle lines into resolv.conf', () => {
  assert.equal(decode(domainName, Buffer.from('example.org')), 'example.org');
  assert.equal(decode(domainName, Buffer.from('example.org.\0')), 'example.org.');
  for (const bad of ['a\nnameserver 192.0.2.66', 'a b', '', '.', 'a..b', 'x'.repeat(300), 'é']) {
    assert.throws(() => decode(domainName, Buffer.from(bad)), WireError, bad);
  }
});

test('classless routes hold only the significant bytes of a destination (RFC 3442)', () => {
  const routes = [
    route('0.0.0.0/0', '192.0.2.1'),
    route('10.0.0.0/8', '192.0.2.2'),
    route('10.17.0.0/16', '192.0.2.3'),
    route('10.229.0.128/25', '192.0.2.4'),
    route('10.1.2.3/32', '0.0.0.0'),
  ];
  const bytes = hex(
    '00 c0000201  08 0a c0000202  10 0a11 c0000203  19 0ae50080 c0000204  20 0a010203 00000000',
  );
  assert.deepEqual(decode(classlessRoutes, bytes), routes);
  assert.deepEqual(encode(classlessRoutes, routes), bytes);
});

test('bits of a destination past its length are ignored', () => {
  assert.deepEqual(decode(classlessRoutes, hex('04 ff c0000201')), [route('240.0.0.0/4', '192.0.2.1')]);
});

test('a prefix of more than 32 bits is none', () => {
  assert.throws(
    () => decode(classlessRoutes, hex('21 0a010203 c0000201')),
    /cannot have a prefix of 33 bits/,
  );
});

test('static routes lead to networks by class, or to hosts (RFC 2132 §5.8)', () => {
  const routes = [
    route('10.0.0.0/8', '192.0.2.1'),
    route('172.16.0.0/16', '192.0.2.1'),
    route('198.51.100.0/24', '192.0.2.1'),
    route('10.1.2.3/32', '192.0.2.2'),
  ];
  const bytes = hex('0a000000 c0000201  ac100000 c0000201  c6336400 c0000201  0a010203 c0000202');
  assert.deepEqual(decode(classfulRoutes, bytes), routes);
  assert.deepEqual(encode(classfulRoutes, routes), bytes);
});

test('a list of domains may point back into itself (RFC 3397)', () => {
  const bytes = hex('03656e67 056170706c65 03636f6d 00  096d61726b6574696e67 c004');
  assert.deepEqual(decode(domainList, bytes), ['eng.apple.com', 'marketing.apple.com']);
});

test('a pointer that does not lead back ends nothing but the list', () => {
  for (const digits of ['c000', '0161c000', '0161c002', '0161c005 0162 00', 'c0']) {
    assert.throws(() => decode(domainList, hex(digits)), WireError, digits);
  }
});

const codecs: readonly (readonly [Codec<unknown, never>, Uint8Array])[] = [
  [classlessRoutes, hex('08 0a c0000201 10 0a11 c0000203')],
  [classfulRoutes, hex('0a000000 c0000201')],
  [domainList, hex('03656e67 056170706c65 03636f6d 00 0162 c004')],
];

test('a value that is cut, anywhere, is shorter or refused', () => {
  for (const [codec, bytes] of codecs) {
    for (let length = 0; length < bytes.length; length++) {
      try {
        decode(codec, bytes.subarray(0, length));
      } catch (error) {
        assert.ok(error instanceof WireError, `${codec.name}: ${error}`);
      }
    }
  }
});

test('any bytes are a value or refused', () => {
  fc.assert(
    fc.property(fc.constantFrom(...codecs), fc.uint8Array({ maxLength: 60 }), ([codec], bytes) => {
      try {
        decode(codec, bytes);
      } catch (error) {
        assert.ok(error instanceof WireError, `${codec.name}: ${error}`);
      }
    }),
    { numRuns: 2000 },
  );
});

test('routes and names that are written are read again', () => {
  const address = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => Addr.fromBytes(bytes));
  const routes = fc.array(
    fc.record(
      {
        destination: fc
          .tuple(address, fc.integer({ min: 0, max: 32 }))
          .map(([addr, bits]) => Prefix.of(addr, bits).masked()),
        router: address,
      },
      PLAIN,
    ),
  );
  const label = fc.stringMatching(/^[a-z0-9_-]{1,8}$/);
  const names = fc.array(fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')));
  fc.assert(
    fc.property(routes, names, (someRoutes, someNames) => {
      assert.deepEqual(decode(classlessRoutes, encode(classlessRoutes, someRoutes)), someRoutes);
      assert.deepEqual(decode(domainList, encode(domainList, someNames)), someNames);
    }),
  );
});
