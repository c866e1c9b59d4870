import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  attr,
  attrs,
  bool,
  bytes,
  choice,
  cstring,
  decode,
  decodeDeclared,
  elements,
  encode,
  fixedString,
  flag,
  headed,
  i32,
  indexed,
  many,
  oneOf,
  pad,
  repeated,
  rest,
  struct,
  u8,
  u16,
  u16be,
  u32,
  u32be,
  u64be,
  WireError,
  windowOf,
} from './index.ts';

const hex = (value: Uint8Array) => Buffer.from(value).toString('hex');
const unhex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));

const ifinfomsg = struct('ifinfomsg', {
  family: u8,
  pad: pad(1),
  type: u16,
  index: i32,
  flags: u32,
  change: u32,
});
const vxlan = attrs('IFLA_VXLAN', {
  id: attr(1, u32),
  ttl: attr(5, u8),
  learning: attr(7, bool(u8)),
  port: attr(15, u16be),
});
const vlan = attrs('IFLA_VLAN', { id: attr(1, u16) });
const linkInfo = attrs('IFLA_INFO', { kind: attr(1, cstring), data: choice(2, 'kind', { vxlan, vlan }) });
const linkAttrs = attrs('IFLA', {
  ifname: attr(3, cstring),
  mtu: attr(4, u32),
  linkinfo: attr(18, linkInfo),
});
const link = headed(ifinfomsg, linkAttrs);

test('a declared message reads back as written, nested sets included', () => {
  const value = {
    family: 0,
    type: 0,
    index: 7,
    flags: 1,
    change: 1,
    attributes: {
      ifname: 'vx0',
      mtu: 1450,
      linkinfo: { kind: 'vxlan', data: { vxlan: { id: 42, ttl: 8, learning: false, port: 4789 } } },
    },
  };
  assert.deepEqual(decode(link, encode(link, value)), value);
});

test('fields that are left out of a struct are zero, and padding is no field', () => {
  assert.equal(hex(encode(ifinfomsg, { index: 1 })), '00000000010000000000000000000000');
  assert.deepEqual(Object.keys(decode(ifinfomsg, new Uint8Array(16))), [
    'family',
    'type',
    'index',
    'flags',
    'change',
  ]);
});

test('a field of a struct is read alone, as with all others, and needs no more than its own bytes', () => {
  const message = encode(ifinfomsg, { family: 7, index: -2, flags: 0x10043 });
  for (const key of ['family', 'index', 'flags'] as const) {
    const alone = ifinfomsg.field(key);
    assert.equal(alone.read(windowOf(message), 0, message.length), decode(ifinfomsg, message)[key]);
  }
  assert.equal(ifinfomsg.field('family').read(windowOf(message), 0, 1), 7);
  assert.throws(() => ifinfomsg.field('index').read(windowOf(message), 0, 7), { code: 'WIRE_MALFORMED' });
});

test('a struct that a later kernel has made longer is still read', () => {
  assert.equal(decode(struct('x', { a: u16be }), unhex('0001ffff')).a, 1);
});

test('an unknown attribute is kept and written back', () => {
  const set = attrs('X', { a: attr(1, u8) });
  const raw = unhex('0500010007000000' + '08006300deadbeef');
  const value = decode(set, raw);
  assert.deepEqual(value, { a: 7, unknown: [{ id: 99, data: unhex('deadbeef') }] });
  assert.equal(hex(encode(set, value)), hex(raw));
});

test('a reader that has no use for unknown attributes gets none, at any depth', () => {
  const inner = attrs('INNER', { a: attr(1, u8) });
  const outer = attrs('OUTER', { inner: attr(2, inner) });
  const known = { inner: { a: 7 } };
  const unknown = [{ id: 99, data: unhex('deadbeef') }];
  const bytes = encode(outer, { inner: { ...known.inner, unknown }, unknown });
  assert.deepEqual(decodeDeclared(outer, bytes), known);
  assert.deepEqual(decode(outer, bytes), { inner: { ...known.inner, unknown }, unknown });
});

test('a choice of an unknown kind keeps its payload as bytes', () => {
  const raw = encode(linkInfo, { kind: 'frob', data: { raw: unhex('01020304') } });
  assert.deepEqual(decode(linkInfo, raw), { kind: 'frob', data: { raw: unhex('01020304') } });
});

test('a choice is read also when the kernel sends the payload before its kind', () => {
  const kind = attrs('IFLA_INFO', { kind: attr(1, cstring) });
  const data = attrs('IFLA_INFO', { data: attr(2, vlan) });
  const raw = Buffer.concat([encode(data, { data: { id: 5 } }), encode(kind, { kind: 'vlan' })]);
  assert.deepEqual(decode(linkInfo, raw), { kind: 'vlan', data: { vlan: { id: 5 } } });
});

test('nested sets carry the nested flag, scalars do not', () => {
  assert.equal(
    hex(encode(linkAttrs, { linkinfo: { kind: 'vlan' } })),
    '10001280' + '09000100766c616e00000000',
  );
});

test('repeated attributes and lists keep their order', () => {
  const set = attrs('X', {
    each: many(2, u16be),
    list: attr(3, elements(1, attrs('E', { n: attr(1, u32be) }))),
  });
  const value = { each: [1, 2, 3], list: [{ n: 1 }, { n: 2 }] };
  assert.deepEqual(decode(set, encode(set, value)), value);
  const table = attrs('T', { acts: attr(1, indexed(attrs('A', { n: attr(1, u8) }))) });
  assert.deepEqual(decode(table, encode(table, { acts: [{ n: 9 }, { n: 8 }] })), {
    acts: [{ n: 9 }, { n: 8 }],
  });
});

test('the padding behind the last attribute may be absent', () => {
  assert.deepEqual(decode(attrs('X', { a: attr(1, u8) }), unhex('0500010007')), { a: 7 });
});

test('an error names the attribute from the outside in, with the offset', () => {
  const raw = encode(link, {
    attributes: { linkinfo: { kind: 'vxlan', data: { raw: unhex('0500010007000000') } } },
  });
  const broken = encode(link, { attributes: {} });
  assert.throws(() => decode(link, broken.slice(0, 10)), {
    message: 'ifinfomsg needs 16 bytes, 10 are left (at byte 0)',
  });
  const nested = attrs('IFLA', {
    linkinfo: attr(
      18,
      attrs('IFLA_INFO', { kind: attr(1, cstring), data: attr(2, attrs('D', { id: attr(1, u8) })) }),
    ),
  });
  const short = encode(nested, { linkinfo: { kind: 'vxlan', data: { id: 7 } } });
  assert.throws(
    () => decode(linkAttrs, short),
    (error: unknown) => {
      assert.ok(error instanceof WireError);
      assert.match(
        error.message,
        /^IFLA\.linkinfo\.IFLA_INFO\.data\.IFLA_VXLAN\.id: u32 needs 4 bytes, 1 are left/,
      );
      return true;
    },
  );
  assert.ok(raw.length > 0);
});

test('text stops at its NUL and survives without one', () => {
  assert.equal(decode(cstring, unhex('6c6f00ff')), 'lo');
  assert.equal(decode(cstring, unhex('6c6f')), 'lo');
  assert.equal(decode(cstring, encode(cstring, 'grün')), 'grün');
  assert.equal(decode(fixedString(16), encode(fixedString(16), 'eth0')), 'eth0');
  assert.throws(() => encode(fixedString(4), 'eth0'), WireError);
});

test('named numbers pass unknown values through', () => {
  const scope = oneOf(u8, { universe: 0, link: 253 });
  assert.equal(decode(scope, Uint8Array.of(253)), 'link');
  assert.equal(decode(scope, Uint8Array.of(9)), 9);
  assert.equal(hex(encode(scope, 'link')), 'fd');
});

test('a flag is present or absent', () => {
  const set = attrs('X', { on: attr(1, flag) });
  assert.deepEqual(decode(set, encode(set, { on: true })), { on: true });
  assert.deepEqual(decode(set, encode(set, {})), {});
});

test('decoded bytes do not change with the buffer that they came from', () => {
  for (const kind of [Uint8Array, Buffer]) {
    const raw = kind.from(unhex('0800010001020304' + '0800630005060708'));
    const value = decode(attrs('X', { a: attr(1, rest) }), raw);
    const fixed = decode(bytes(4), raw.subarray(4));
    raw.fill(0);
    assert.deepEqual(value, { a: unhex('01020304'), unknown: [{ id: 0x63, data: unhex('05060708') }] });
    assert.deepEqual(fixed, unhex('01020304'));
  }
});

test('values that do not fit are refused', () => {
  assert.throws(() => encode(bytes(2), unhex('010203')), WireError);
  const set = attrs('X', { a: attr(1, rest) });
  assert.throws(() => encode(set, { a: new Uint8Array(70_000) }), /an attribute holds 65535/);
});

test('64-bit numbers keep every bit', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (n) => decode(u64be, encode(u64be, n)) === n),
  );
});

test('an array of structs is read to its end', () => {
  const pair = struct('pair', { a: u8, b: u8 });
  assert.deepEqual(decode(repeated(pair), unhex('01020304')), [
    { a: 1, b: 2 },
    { a: 3, b: 4 },
  ]);
  assert.throws(() => decode(repeated(pair), unhex('010203')), WireError);
});

test('round trip, and a message cut at any byte gives a WireError or a shorter value', () => {
  const value = fc.record({
    index: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    ifname: fc.stringMatching(/^[a-z0-9]{1,15}$/),
    mtu: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    id: fc.integer({ min: 0, max: 2 ** 24 - 1 }),
  });
  fc.assert(
    fc.property(value, ({ index, ifname, mtu, id }) => {
      const attributes = { ifname, mtu, linkinfo: { kind: 'vxlan', data: { vxlan: { id } } } };
      const raw = encode(link, { index, attributes });
      assert.deepEqual(decode(link, raw).attributes, attributes);
      for (let length = 0; length < raw.length; length++) {
        try {
          decode(link, raw.subarray(0, length));
        } catch (error) {
          assert.ok(error instanceof WireError, String(error));
        }
      }
    }),
  );
});

test('any bytes at all give a value or a WireError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 128 }), (raw) => {
      try {
        decode(link, raw);
      } catch (error) {
        assert.ok(error instanceof WireError, String(error));
      }
    }),
  );
});
