import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureLines, figure, pluginRowsOf, rowsOf } from './rows.ts';
import { exampleReport } from './testing/example-report.ts';

test('a report is a table, a row for each verb of each contender', () => {
  const [report] = exampleReport().networks;
  assert.ok(report);
  assert.deepEqual(
    rowsOf(report).map((row) => Object.values(row).join(' | ')),
    [
      'ADD | baseline | 105 (97.5-113) | 120 | 9.55 |  |  | 4/4',
      'ADD | candidate | 5.50 (4.88-12.0) | 29.3 | 183 | 0.052 (0.041-0.286) | 19.2 (3.49-24.2) | 4/4',
      'DEL | baseline | 245 (238-253) | 260 | 4.08 |  |  | 4/4',
      'DEL | candidate | - | - | 0.00 |  |  | 0/4',
    ],
  );
});

test('what has failed is told', () => {
  const [report] = exampleReport().networks;
  assert.ok(report);
  assert.deepEqual(failureLines(report), ['DEL of candidate failed 4 times: portmap: exit code 1: <gone>']);
});

test('the plugins of a chain have rows of their own', () => {
  const [report] = exampleReport().networks;
  assert.ok(report);
  assert.deepEqual(pluginRowsOf(report)[0], {
    verb: 'ADD',
    plugin: 'bridge',
    contender: 'baseline',
    latency: '52.5 (48.8-56.3)',
  });
});

test('figures have three digits', () => {
  assert.deepEqual([0.1234, 1.234, 12.34, 123.4, 1234.5, Number.NaN].map(figure), [
    '0.12',
    '1.23',
    '12.3',
    '123',
    '1235',
    '-',
  ]);
});
