import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from './site.ts';
import { seeded } from './statistics.ts';
import { Tally } from './tally.ts';

function attempt(steps: readonly number[], failure?: string): Attempt {
  return {
    pod: { name: 'pod', containerID: 'pod', capabilityArgs: {}, result: undefined },
    failure,
    steps,
    milliseconds: steps.reduce((sum, each) => sum + each, 0),
    outcome: { steps: [], arrivals: [{ milliseconds: 0.1 }, { milliseconds: 0.4 }], hasInterface: true },
  };
}

test('what has failed is counted as failed, and not measured', () => {
  const tally = new Tally('a', 'ADD', ['bridge', 'portmap']);
  tally.count({ milliseconds: 100, attempts: [attempt([2, 3]), attempt([900, 900], 'it hangs')] });
  const { latency, throughput, plugins, failures, firstPacket } = tally.measurement(tally, seeded(1));
  assert.equal(latency.count, 1);
  assert.equal(latency.median, 5);
  assert.equal(throughput.median, 10);
  assert.deepEqual(
    plugins.map(({ type, median }) => [type, median]),
    [
      ['bridge', 2],
      ['portmap', 3],
    ],
  );
  assert.deepEqual(failures, { 'it hangs': 1 });
  assert.equal(firstPacket?.median, 0.4);
});

test('failures that differ only in numbers are of one kind', () => {
  const tally = new Tally('a', 'ADD', ['bridge']);
  const reasons = ['port 1024 of 10.0.0.5 is taken', 'port 1025 of 10.0.0.6 is taken', 'no more addresses'];
  tally.count({ milliseconds: 1, attempts: reasons.map((reason) => attempt([1], reason)) });
  assert.deepEqual(tally.measurement(tally, seeded(1)).failures, {
    'port 1024 of 10.0.0.5 is taken': 2,
    'no more addresses': 1,
  });
});

test('a contender is compared with the first, if both have figures', () => {
  const [first, second, none] = ['a', 'b', 'c'].map((name) => new Tally(name, 'DEL', ['bridge'])) as [
    Tally,
    Tally,
    Tally,
  ];
  first.count({ milliseconds: 10, attempts: [attempt([10])] });
  second.count({ milliseconds: 5, attempts: [attempt([5])] });
  none.count({ milliseconds: 5, attempts: [attempt([5], 'no')] });
  assert.equal(first.measurement(first, seeded(1)).comparison, undefined);
  assert.equal(none.measurement(first, seeded(1)).comparison, undefined);
  const { comparison } = second.measurement(first, seeded(1));
  assert.equal(comparison?.latency.ratio, 0.5);
  assert.equal(comparison?.throughput.ratio, 2);
});
