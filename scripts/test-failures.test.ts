import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import { eventLine, parseEventLine } from './lab/test-events.ts';
import { type Failed, failureText, isSumOfOthers } from './test-failures.ts';

function failed(cause: unknown): Failed {
  const error = Object.assign(new Error('wrapped', { cause }), { code: 'ERR_TEST_FAILURE' });
  const details = { duration_ms: 1, error } as Failed['details'];
  return { name: 'holds', file: '/repo/test/a.test.ts', line: 7, details } as Failed;
}

/** As it is after it was told by the lab. */
function told(data: Failed): Failed {
  return (parseEventLine(eventLine({ type: 'test:fail', data } as TestEvent)) as { data: Failed }).data;
}

const LONG = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n');

for (const [where, through] of [
  ['here', (data: Failed) => data],
  ['in the lab', told],
] as const) {
  test(`a long message is cut, and the two values of the assertion are told all the same: ${where}`, () => {
    const thrown = new assert.AssertionError({
      ...{ message: LONG, actual: 'attachment/gone', expected: 'port/stale', operator: 'strictEqual' },
    });
    const lines = failureText(through(failed(thrown)), '/repo').split('\n');
    assert.equal(lines[0], 'failed: holds (test/a.test.ts:7)');
    assert.match(lines[1] ?? '', /AssertionError.*line 0$/);
    assert.equal(lines[15], '    line 14');
    const rest = lines.slice(16).join('\n');
    assert.match(rest, /^ {4}… \d+ lines more\n {4}at .*test-failures\.test\.ts:\d+/);
    assert.match(rest, /actual: 'attachment\/gone'/);
    assert.match(rest, /expected: 'port\/stale'/);
  });

  test(`what failed only because something in it did is no failure of its own: ${where}`, () => {
    assert.ok(isSumOfOthers(through(failed('2 subtests failed'))));
    assert.ok(isSumOfOthers(through(failed('1 subtest failed'))));
    assert.ok(!isSumOfOthers(through(failed(new Error('2 are there, 1 subtest failed')))));
  });
}

test('what is thrown that is no error is told as it is', () => {
  assert.equal(failureText(failed('timed out'), '/repo'), 'failed: holds (test/a.test.ts:7)\n    timed out');
});
