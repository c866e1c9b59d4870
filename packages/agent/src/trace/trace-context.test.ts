import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';

const ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a traceparent is read, and written as it was', () => {
  for (const flags of ['00', '01']) {
    const text = `00-${ID}-${SPAN}-${flags}`;
    const context = parseTraceparent(text);
    assert.deepEqual(context, { traceId: ID, spanId: SPAN, sampled: flags === '01' });
    assert.equal(context && formatTraceparent(context), text);
  }
  assert.ok(parseTraceparent(`cc-${ID}-${SPAN}-01-what-comes-later`));
});

test('what is none is ignored', () => {
  const zeros = '0'.repeat(32);
  for (const text of [
    ...['', 'x', `00-${ID}-${SPAN}`, `00-${ID}-${SPAN}-01-more`, `ff-${ID}-${SPAN}-01`],
    ...[`00-${zeros}-${SPAN}-01`, `00-${ID}-${'0'.repeat(16)}-01`, `00-${ID.toUpperCase()}-${SPAN}-01`],
  ]) {
    assert.equal(parseTraceparent(text), undefined, text);
  }
});
