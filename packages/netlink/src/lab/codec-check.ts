/** Random values for tests of codecs, and the tests that every codec is put through. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Mac } from '@heddle/netaddr';
import { type Codec, decode, encode, WireError } from '@heddle/wire';
import fc from 'fast-check';

/** Tests of a codec: what is written is read back, and no bytes make it fail otherwise than by a WireError. */
export function checkCodec(
  name: string,
  codec: Codec<unknown, never>,
  arbitrary: fc.Arbitrary<unknown>,
): void {
  test(`${name}: what is written is read back`, () => {
    fc.assert(
      fc.property(arbitrary, (value) => {
        assert.deepEqual(decode(codec, encode(codec, value as never)), value);
      }),
    );
  });

  test(`${name}: bytes that are not of the format give a WireError or a value, nothing else`, () => {
    const scrambled = fc.tuple(arbitrary, fc.nat(), u8, fc.nat()).map(([value, at, byte, length]) => {
      const raw = encode(codec, value as never);
      if (raw.length > 0) raw[at % raw.length] = byte;
      return raw.subarray(0, length % (raw.length + 1));
    });
    fc.assert(
      fc.property(scrambled, (raw) => {
        try {
          decode(codec, raw);
        } catch (error) {
          assert.ok(error instanceof WireError, String(error));
        }
      }),
      { numRuns: 1000 },
    );
  });
}

/** All of the fields. */
export const all = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { noNullPrototype: true });
/** A `u8`. */
export const u8 = fc.integer({ min: 0, max: 0xff });
/** A `u16`. */
export const u16 = fc.integer({ min: 0, max: 0xffff });
/** A `u32`. */
export const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
/** An `i32`. */
export const i32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
/** A `u64`. */
export const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
/** A truth value. */
export const bool = fc.boolean();
/** So many bytes. */
export const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
/** An IPv4 address. */
export const addr4 = bytes(4).map((raw) => Addr.fromBytes(raw));
/** An IPv6 address. */
export const addr6 = bytes(16).map((raw) => Addr.fromBytes(raw));
/** An address of either family. */
export const addr = fc.oneof(addr4, addr6);
/** An Ethernet address. */
export const mac = bytes(6).map((raw) => Mac.fromBytes(raw));
/** Text short enough for a name. */
export const text = fc.stringMatching(/^[ -~]{0,15}$/);
/** Attributes that no set declares. */
export const unknown = fc.array(
  all({ id: fc.integer({ min: 200, max: 300 }), data: fc.uint8Array({ maxLength: 9 }) }),
  {
    minLength: 1,
    maxLength: 3,
  },
);
/** Any of the fields, each present or not. */
export const some = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [], noNullPrototype: true });
/** One of the names, or a number that has none. */
export const oneOf = (...names: readonly string[]) => fc.constantFrom<string | number>(...names, 199);
