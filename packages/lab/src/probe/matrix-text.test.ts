import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reach } from './matrix.ts';
import { matrixText } from './matrix-text.ts';

test('a matrix shows families that work, and says below what does not', () => {
  const reach = (from: string, to: string, family: 4 | 6, failures: Reach['failures'] = {}): Reach => ({
    ...{ from, to, family, failures },
    address: family === 4 ? '10.1.2.3' : 'fd00::3',
  });
  const text = matrixText({
    from: ['node1', 'pod1-1', 'pod2-1'],
    to: ['pod1-1', 'pod2-1'],
    reaches: [
      reach('node1', 'pod1-1', 6),
      reach('node1', 'pod1-1', 4),
      reach('node1', 'pod2-1', 4),
      reach('pod1-1', 'pod2-1', 4, { udp: 'no answer', tcp: 'ECONNREFUSED' }),
      reach('pod1-1', 'pod2-1', 6),
      reach('pod2-1', 'pod1-1', 4),
    ],
  });
  assert.equal(
    text,
    [
      '        pod1-1  pod2-1',
      'node1   4 6     4',
      'pod1-1  .       - 6',
      'pod2-1  4       .',
      '',
      '5 of 6 ways are open (each: ping, UDP and TCP)',
      '  pod1-1 to pod2-1 (10.1.2.3): udp: no answer, tcp: ECONNREFUSED',
      '',
    ].join('\n'),
  );
});
