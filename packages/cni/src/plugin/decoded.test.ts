import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../json.ts';
import type { JsonValue } from '../json-value.ts';
import { Decoded } from './decoded.ts';
import { readRequest } from './request.ts';

/** How often each value is decoded, when all of them are asked for in turn. */
function decodings(...asked: readonly (readonly [purpose: string, value: JsonValue])[]): number {
  const decoded = new Decoded();
  let count = 0;
  for (const [purpose, value] of asked) {
    const given = decoded.recall(purpose, value, () => ({ nth: ++count, value }));
    assert.deepEqual(given.value, value);
  }
  return count;
}

test('equal values are decoded once for each purpose', () => {
  const value = () => ({ ipam: { type: 'host-local' }, mtu: 1500 });
  assert.equal(decodings(['bridge', value()], ['bridge', value()]), 1);
  assert.equal(decodings(['bridge', value()], ['ptp', value()], ['bridge', value()]), 2);
  assert.equal(decodings(['bridge', value()], ['bridge', { ...value(), mtu: 1400 }]), 2);
});

test('values that only look alike are told apart', () => {
  const beyond = () => parseJson('{"mtu": 1e999}');
  assert.equal(decodings(['x', beyond()], ['x', { mtu: null }], ['x', beyond()]), 3);
  const long = () => parseJson('{"id": 12345678901234567890}');
  assert.equal(decodings(['x', long()], ['x', long()]), 2);
});

test('what is shared cannot be changed, and a failure is not remembered', () => {
  const decoded = new Decoded();
  const shared = decoded.recall('x', {}, () => ({ list: [{ id: 1 }] }));
  assert.throws(() => shared.list.push({ id: 2 }), TypeError);
  assert.throws(() => Object.assign(shared.list[0] as object, { id: 2 }), TypeError);
  const fail = () => decoded.recall('y', {}, () => assert.fail('not valid'));
  assert.throws(fail, /not valid/);
  assert.throws(fail, /not valid/);
});

test('it holds so much and no more', () => {
  const many = Array.from({ length: 1000 }, (_, id) => ['x', { id }] as const);
  assert.equal(decodings(...many, ...many), 2000);
  assert.equal(decodings(...many, ...many.slice(-10)), 1000);
  const large = { text: 'x'.repeat(100_000) };
  assert.equal(decodings(['x', large], ['x', large]), 2);
});

test('a configuration that comes again is read once, and is the same for whoever decodes it', () => {
  const decoded = new Decoded();
  const text = '{"cniVersion": "1.0.0", "name": "n", "type": "bridge"}';
  const read = (source: string) => readRequest(new TextEncoder().encode(source), decoded);
  const [first, second] = [read(text), read(text)];
  assert.equal(second.raw, first.raw);
  assert.deepEqual(Buffer.from(second.stdin).toString(), text);
  assert.throws(() => Object.assign(first.raw, { name: 'other' }), TypeError);
  let count = 0;
  const decode = () => ({ nth: ++count });
  assert.equal(decoded.recall('x', first.raw, decode), decoded.recall('x', second.raw, decode));
  assert.notEqual(decoded.recall('y', first.raw, decode), decoded.recall('x', first.raw, decode));
  assert.equal(read(text.replace('"n"', '"m"')).network, 'm');
  assert.throws(() => read('{'), { code: 'JSON_TRUNCATED' });
  const another = text.replace('}', ', "prevResult": {}}');
  assert.notEqual(read(another).raw, read(another).raw);
});
