import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Histogram } from './histogram.ts';

test('a quantile is within a tenth of the value that it stands for', () => {
  const values = fc.array(fc.double({ min: 0.1, max: 60_000, noNaN: true }), {
    minLength: 1,
    maxLength: 300,
  });
  fc.assert(
    fc.property(values, fc.constantFrom(0.5, 0.9, 0.99, 1), (all, share) => {
      const histogram = new Histogram();
      for (const value of all) histogram.record(value);
      const sorted = all.toSorted((a, b) => a - b);
      const exact = sorted[Math.ceil(share * all.length) - 1] ?? 0;
      const told = histogram.quantile(share);
      // One bucket is 2^(1/4) wide.
      assert.ok(told > exact / 1.2 && told < exact * 1.2, `${told} for ${exact}`);
    }),
  );
});

test('buckets for Prometheus count everything below them, and all are in the total', () => {
  const histogram = new Histogram();
  for (const value of [0, 0.01, 0.125, 0.126, 3, 100_000]) histogram.record(value);
  const buckets = new Map(histogram.cumulative().map(({ upTo, count }) => [upTo, count]));
  assert.equal(buckets.get(0.0625), 2);
  assert.equal(buckets.get(0.125), 3);
  assert.equal(buckets.get(0.25), 4);
  assert.equal(buckets.get(65_536), 5);
  assert.equal(histogram.count, 6);
  assert.equal(histogram.sum, 100_003.261);
  assert.equal(new Histogram().quantile(0.5), 0);
});
