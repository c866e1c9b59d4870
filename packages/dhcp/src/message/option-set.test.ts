import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rest, u8, u32be, WireError } from '@heddle/wire';
import fc from 'fast-check';
import { option, optionSet } from './option-set.ts';
import { text } from './values.ts';

/** Objects as everybody makes them. */
const PLAIN = { noNullPrototype: true } as const;

const options = optionSet({ type: option(53, u8), time: option(51, u32be), words: option(56, text) });
const bytes = (...values: readonly number[]) => Uint8Array.from(values);

test('options are read by code, up to the end mark, and padding is passed over', () => {
  assert.deepEqual(options.read([bytes(0, 53, 1, 2, 0, 0, 51, 4, 0, 0, 0, 60, 255, 53, 1, 9)]), {
    type: 2,
    time: 60,
  });
});

test('the end mark may be missing', () => {
  assert.deepEqual(options.read([bytes(53, 1, 2)]), { type: 2 });
  assert.deepEqual(options.read([bytes()]), {});
});

test('an option that is not declared is kept as it came', () => {
  assert.deepEqual(options.read([bytes(53, 1, 2, 77, 2, 1, 2, 255)]), {
    type: 2,
    unknown: [{ code: 77, data: bytes(1, 2) }],
  });
});

test('an option that is not of its format counts as unknown; the others hold', () => {
  assert.deepEqual(options.read([bytes(51, 3, 0, 0, 1, 53, 1, 2)]), {
    type: 2,
    unknown: [{ code: 51, data: bytes(0, 0, 1) }],
  });
});

test('a value in several parts, even in several areas, is one (RFC 3396)', () => {
  assert.deepEqual(options.read([bytes(56, 2, 97, 98, 53, 1, 2, 56, 1, 99, 255), bytes(56, 1, 100)]), {
    type: 2,
    words: 'abcd',
  });
});

test('an option that does not fit into its area is refused, wherever it is cut', () => {
  const whole = options.write({ type: 5, time: 60, words: 'hello' });
  for (let length = 0; length < whole.length; length++) {
    try {
      options.read([whole.subarray(0, length)]);
    } catch (error) {
      assert.ok(error instanceof WireError, String(error));
    }
  }
  assert.throws(() => options.read([bytes(53)]), /DHCP options end inside option 53 \(at byte 0\)/);
  assert.throws(() => options.read([bytes(53, 2, 1)]), /DHCP options end inside option 53/);
});

test('they are written in the order of their declaration, those of the user last', () => {
  const unknown = [{ code: 12, data: bytes(120) }];
  assert.deepEqual(
    options.write({ unknown, time: 1, type: 3 }),
    bytes(53, 1, 3, 51, 4, 0, 0, 0, 1, 12, 1, 120, 255),
  );
});

test('a long value is split, an empty one is not lost', () => {
  const long = optionSet({ data: option(43, rest) });
  const data = new Uint8Array(600).fill(7);
  const written = long.write({ data });
  assert.deepEqual([written[1], written[258], written[515]], [255, 255, 90]);
  assert.deepEqual(long.read([written]), { data });
  assert.deepEqual(long.write({ data: bytes() }), bytes(43, 0, 255));
});

test('what is written is read again', () => {
  const raw = fc.record(
    { code: fc.integer({ min: 60, max: 254 }), data: fc.uint8Array({ maxLength: 600 }) },
    PLAIN,
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(raw, { selector: ({ code }) => code, maxLength: 5 }),
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      (unknown, time) => {
        const expected = { time, ...(unknown.length > 0 && { unknown }) };
        assert.deepEqual(options.read([options.write({ time, unknown })]), expected);
      },
    ),
  );
});
