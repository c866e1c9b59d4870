import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Mac } from './index.ts';

const macs = fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => Mac.fromBytes(bytes));

test('all three forms are read in either case, and written in lower case with colons', () => {
  for (const text of ['0a:58:0a:f4:00:05', '0A-58-0A-F4-00-05', '0a58.0AF4.0005', '0A:58:0a:F4:00:05']) {
    assert.equal(`${Mac.parse(text)}`, '0a:58:0a:f4:00:05');
    assert.equal(JSON.stringify(Mac.parse(text)), '"0a:58:0a:f4:00:05"');
  }
});

test('what is no MAC address is refused with the reason', () => {
  const cases: readonly [string, string][] = [
    ['', 'expected 6 bytes in hexadecimal'],
    ['0a58', 'expected 6 bytes in hexadecimal'],
    ['0a580af40005', 'expected 6 bytes in hexadecimal'],
    ['0a:58:0a:f4:00', 'expected 6 bytes in hexadecimal'],
    ['0a:58:0a:f4:00:', 'expected 6 bytes in hexadecimal'],
    ['0a:58:0a:f4:00:0', 'expected 6 bytes in hexadecimal'],
    ['0a:58:0a:f4:00:05:', 'expected 6 bytes in hexadecimal'],
    ['0a58.0af4.0005.', 'expected 6 bytes in hexadecimal'],
    ['0a:58:0a:f4:00:05:06', 'more than 6 bytes'],
    ['00:00:00:00:fe:80:00:00', 'more than 6 bytes'],
    ['0a58.0af4.0005.0006', 'more than 6 bytes'],
    ['0a:58-0a:f4:00:05', 'unexpected "-"'],
    ['0a.58.0a.f4.00.05', 'expected 6 bytes in hexadecimal'],
    ['0a58.0a:f4.0005', 'unexpected ":"'],
    ['a:58:0a:f4:00:05', 'expected 6 bytes in hexadecimal'],
    ['0a:5:0a:f4:00:055', 'unexpected ":"'],
    ['0g:58:0a:f4:00:05', 'unexpected "g"'],
    ['0a:58:0a:f4:00:05\n', 'unexpected "\\n"'],
  ];
  for (const [text, reason] of cases) {
    assert.equal(Mac.tryParse(text), undefined, text);
    assert.throws(() => Mac.parse(text), {
      name: 'AddrError',
      code: 'ADDR_INVALID',
      message: `invalid MAC address: ${text} (${reason})`,
    });
  }
});

test('a MAC survives its text and its bytes', () => {
  fc.assert(
    fc.property(macs, macs, (mac, other) => {
      assert.deepEqual(Mac.parse(mac.toString()), mac);
      assert.deepEqual(Mac.parse(mac.toString().replaceAll(':', '-').toUpperCase()), mac);
      assert.deepEqual(Mac.fromBytes(mac.toBytes()), mac);
      assert.equal(mac.equals(other), mac.toString() === other.toString());
      assert.ok(mac.equals(Mac.fromBytes(mac.toBytes())));
    }),
  );
});

test('bytes are copied, and only 6 make a MAC', () => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6);
  const mac = Mac.fromBytes(bytes);
  bytes.fill(0);
  mac.toBytes().fill(0);
  assert.equal(`${mac}`, '01:02:03:04:05:06');
  for (const length of [0, 5, 8]) {
    assert.throws(() => Mac.fromBytes(new Uint8Array(length)), {
      message: `invalid MAC address: ${length} bytes (expected 6)`,
    });
  }
});

test('the flag bits are those of the first byte', () => {
  const flags = ({ isLocal, isMulticast, isZero }: Mac) => ({ isLocal, isMulticast, isZero });
  const cases: readonly [Mac, ReturnType<typeof flags>][] = [
    [Mac.ZERO, { isLocal: false, isMulticast: false, isZero: true }],
    [Mac.BROADCAST, { isLocal: true, isMulticast: true, isZero: false }],
    [Mac.parse('0a:58:00:00:00:00'), { isLocal: true, isMulticast: false, isZero: false }],
    [Mac.parse('01:00:5e:00:00:01'), { isLocal: false, isMulticast: true, isZero: false }],
    [Mac.parse('00:16:3e:00:00:01'), { isLocal: false, isMulticast: false, isZero: false }],
    [Mac.parse('00:00:00:00:00:01'), { isLocal: false, isMulticast: false, isZero: false }],
  ];
  for (const [mac, expected] of cases) assert.deepEqual(flags(mac), expected, `${mac}`);
  assert.equal(`${Mac.BROADCAST}`, 'ff:ff:ff:ff:ff:ff');
});
