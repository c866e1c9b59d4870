/**
 * The codecs against messages as they were: `vectors/nft-1.0.6.json` holds what nft sent for each command
 * (`strace -e trace=sendmsg -e write=all nft -f -`), `vectors/linux-6.18.json` what the kernel then listed.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Codec, decode, encode, WireError } from '@heddle/wire';
import fc from 'fast-check';
import listings from '../vectors/linux-6.18.json' with { type: 'json' };
import captures from '../vectors/nft-1.0.6.json' with { type: 'json' };
import { chainMessage } from './chain.ts';
import { elementsMessage } from './element.ts';
import { type Expression, expressions } from './expressions.ts';
import { objectMessage } from './object.ts';
import { ruleMessage } from './rule.ts';
import { setMessage } from './set.ts';
import { tableMessage } from './table.ts';
import { numberItem, textItem, userdata } from './userdata.ts';

const CODECS: Readonly<Record<string, Codec<object, never>>> = {
  NEWTABLE: tableMessage,
  DELTABLE: tableMessage,
  NEWCHAIN: chainMessage,
  DELCHAIN: chainMessage,
  NEWRULE: ruleMessage,
  DELRULE: ruleMessage,
  NEWSET: setMessage,
  DELSET: setMessage,
  NEWSETELEM: elementsMessage,
  DELSETELEM: elementsMessage,
  NEWOBJ: objectMessage,
};

/** Where nft leaves out a NUL behind a name, or writes the set before its table. */
const ELSEWISE = new Set(['nft add rule inet t c1 counter name "cc"', 'nft flush set inet t nodes']);

const messages = captures.flatMap(({ command, messages }) =>
  messages.map(({ message, hex }) => ({ command, message, bytes: Uint8Array.from(Buffer.from(hex, 'hex')) })),
);

const listed = listings.map(({ message, hex }) => ({
  message,
  bytes: Uint8Array.from(Buffer.from(hex, 'hex')),
}));

describe('what nft 1.0.6 sends', () => {
  for (const { command, message, bytes } of messages) {
    test(`${message} of: ${command}`, () => {
      const codec = CODECS[message] as Codec<object, object>;
      const value = decode(codec, bytes);
      assert.doesNotMatch(JSON.stringify(value, plain), /"unknown"|"expr":"raw"/);
      const again = encode(codec, value);
      if (ELSEWISE.has(command)) assert.deepEqual(decode(codec, again), value);
      else assert.equal(Buffer.from(again).toString('hex'), Buffer.from(bytes).toString('hex'));
    });
  }
});

describe('what Linux 6.18 lists', () => {
  for (const name of Object.keys(CODECS).filter((each) => each.startsWith('NEW'))) {
    test(name, () => {
      const codec = CODECS[name] as Codec<object, object>;
      const bodies = listed.filter(({ message }) => message === name);
      assert.ok(bodies.length > 0);
      for (const { bytes } of bodies) {
        const value = decode(codec, bytes);
        assert.doesNotMatch(JSON.stringify(value, plain), /"unknown"|"expr":"raw"/);
        assert.deepEqual(decode(codec, encode(codec, value)), value);
      }
    });
  }
});

test('a message that is cut off is refused as malformed, or read without its last attributes', () => {
  for (const { message, bytes } of [...messages, ...listed]) {
    const codec = CODECS[message] as Codec<object, object>;
    for (let length = 0; length < bytes.length; length++) {
      try {
        decode(codec, bytes.subarray(0, length));
      } catch (error) {
        assert.ok(error instanceof WireError, `${message} cut to ${length} bytes: ${error}`);
      }
    }
  }
});

test('expressions come back as they were written', () => {
  const register = fc.integer({ min: 1, max: 23 });
  const number = fc.nat();
  const value = fc.uint8Array({ minLength: 1, maxLength: 16 });
  const expression: fc.Arbitrary<Expression> = fc.oneof(
    record({
      expr: fc.constant('payload' as const),
      dreg: register,
      base: fc.constantFrom('link', 'network', 'transport'),
      offset: number,
      length: number,
    }),
    record({
      expr: fc.constant('meta' as const),
      key: fc.constantFrom('mark', 'l4proto', 'iifname'),
      dreg: register,
    }),
    record({
      expr: fc.constant('cmp' as const),
      sreg: register,
      op: fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge'),
      data: record({ value }),
    }),
    record({
      expr: fc.constant('counter' as const),
      bytes: fc.bigInt(0n, 2n ** 64n - 1n),
      packets: fc.bigInt(0n, 99n),
    }),
    record({
      expr: fc.constant('immediate' as const),
      dreg: register,
      data: record({
        verdict: record({ code: fc.constantFrom('jump', 'goto'), chain: fc.constantFrom('a', 'chain') }),
      }),
    }),
    record({
      expr: fc.constant('match' as const),
      extension: fc.constantFrom('comment', 'tcp'),
      revision: number,
      info: value,
    }),
    record({
      expr: fc.constant('dynset' as const),
      set: fc.constant('s'),
      op: fc.constantFrom('add', 'update'),
      expressions: fc.constant([{ expr: 'counter', bytes: 1n, packets: 2n } as const]),
    }),
    record({
      expr: fc.constant('raw' as const),
      name: fc.constant('new'),
      attributes: fc.constant(Uint8Array.of(8, 0, 1, 0, 1, 2, 3, 4)),
    }),
    fc.constant({ expr: 'notrack' as const }),
  );
  fc.assert(
    fc.property(fc.array(expression), (list) => {
      assert.deepEqual(decode(expressions, encode(expressions, list)), list);
    }),
  );
});

test('user data is a list of small items', () => {
  const items = [textItem(0, 'a comment'), numberItem(1, 2)];
  assert.deepEqual(decode(userdata, encode(userdata, items)), items);
  assert.throws(() => decode(userdata, Uint8Array.of(0, 5, 1)), WireError);
});

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function record<T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true });
}
