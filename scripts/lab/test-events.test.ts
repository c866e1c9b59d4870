import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { eventLine, parseEventLine } from './test-events.ts';

test('an event is the same after its line', () => {
  const event = {
    type: 'test:pass',
    data: {
      name: 'works\nwell',
      nesting: 0,
      file: '/a.test.ts',
      details: { duration_ms: 1.5, type: 'test' },
    },
  } as TestEvent;
  const line = eventLine(event);
  assert.match(line, /^[^\n]+\n$/);
  assert.deepEqual(parseEventLine(line), event);
});

test('what a test threw looks as it did where it was thrown', () => {
  const thrown = new assert.AssertionError({ actual: 1, expected: 2, operator: 'strictEqual' });
  const error = Object.assign(new Error('wrapped', { cause: thrown }), { code: 'ERR_TEST_FAILURE' });
  const event = {
    type: 'test:fail',
    data: { name: 'fails', details: { duration_ms: 1, error } },
  } as unknown as TestEvent;
  const { data } = parseEventLine(eventLine(event)) as Extract<TestEvent, { type: 'test:fail' }>;
  assert.ok(data.details.error instanceof Error);
  assert.equal(inspect(data.details.error), inspect(thrown));
});
