import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { jsonCodec } from './codec.ts';

const codec = jsonCodec(
  'node',
  v.object({
    name: v.string(),
    since: v.pipe(
      v.string(),
      v.transform((text) => new Date(text)),
    ),
  }),
  ({ name, since }) => ({ name, since: since.toISOString() }),
);

test('a value comes back as it was, with its type', () => {
  const value = { name: 'n1', since: new Date(0) };
  assert.deepEqual(codec.decode({ key: '/n', value: codec.encode(value) }), value);
});

test('what is something else is told by key and place', () => {
  const decode = (value: string) => () => codec.decode({ key: '/nodes/n1', value });
  const code = 'STORE_VALUE_INVALID';
  assert.throws(decode('{'), { code, message: '/nodes/n1: not a node: no JSON', keys: ['/nodes/n1'] });
  assert.throws(decode('{"name": 1, "since": ""}'), { code, message: /^\/nodes\/n1: not a node: name: / });
  assert.throws(decode('[]'), { code });
});
