import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Measurement, NetworkReport } from '@heddle/bench';
import { summarize } from '@heddle/bench';
import { table } from '../../bench/page.ts';
import { FLOOR, IN_USE, type Results, targetsOf } from '../../bench/results.ts';

const LANES = {
  references: [{ name: 'reference', directory: '/r' }],
  program: { name: 'program', directory: '/p' },
  client: { name: 'client', directory: '/c' },
};

/** @param times milliseconds of ADD and DEL, by contender */
function report(network: string, times: Readonly<Record<string, number>>): NetworkReport {
  const contenders = Object.keys(times).map((name) => ({
    name,
    directory: '/',
    hasAgent: false,
    versions: {},
  }));
  const measurements = (['ADD', 'DEL'] as const).flatMap((verb) =>
    Object.entries(times).map(([contender, milliseconds]): Measurement => {
      const samples = { latency: [milliseconds], throughput: [1000 / milliseconds] };
      return {
        ...{
          verb,
          contender,
          samples,
          failures: {},
          firstPacket: undefined,
          plugins: [],
          comparison: undefined,
        },
        latency: summarize(samples.latency),
        throughput: summarize(samples.throughput),
      };
    }),
  );
  return { network, chain: ['bridge'], probes: [], notes: [], contenders, measurements };
}

function results(times: {
  readonly client: number;
  readonly program: number;
  readonly inUse: number;
}): Omit<Results, 'targets'> {
  const all = { reference: 100, program: times.program, client: times.client, [FLOOR]: 8 };
  return {
    environment: {} as Results['environment'],
    rounds: 1,
    bridge: report('bridge', all),
    chain: report('chain', all),
    others: [],
    mass: report('chain', all),
    growth: report('chain', { client: 10, [`client${IN_USE}`]: times.inUse }),
    footprint: { attachments: 500, before: 50 * 2 ** 20, after: 99 * 2 ** 20, busy: 0, idle: 8000 },
    audits: [],
  };
}

test('everything that is to be shown is shown, with whether it is', () => {
  const good = targetsOf(results({ client: 4, program: 20, inUse: 11 }), LANES);
  assert.deepEqual(
    good.filter(({ met }) => !met),
    [],
  );
  const bad = targetsOf(results({ client: 30, program: 200, inUse: 13 }), LANES);
  assert.deepEqual(
    bad.filter(({ met }) => met).map(({ what }) => what),
    ["agent's memory with 500 attachments of the full chain", "agent's processor time when idle, in 8 s"],
  );
  assert.equal(good.length, bad.length);
});

test('what was not measured is not met', () => {
  const measured = results({ client: 4, program: 20, inUse: 11 });
  const targets = targetsOf({ ...measured, mass: report('chain', {}) }, LANES);
  assert.deepEqual(
    targets.filter(({ met }) => !met).map(({ target }) => target),
    ['at least 15 times faster', 'at least 15 times faster'],
  );
});

test('a table can be read as it is', () => {
  assert.equal(
    table(['a', 'long title'], [['x|y', '1']]),
    ['| a    | long title |', '|------|------------|', '| x\\|y | 1          |'].join('\n'),
  );
});
