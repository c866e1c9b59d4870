import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { median, medianOfRatios, quantile, ratioOfMedians, seeded, summarize } from './statistics.ts';

describe('quantiles', () => {
  test('lie between neighbours, whatever the order of the values', () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.equal(quantile([10, 20, 30, 40, 50], 0.25), 20);
    assert.equal(quantile([0, 10], 0.99), 9.9);
    assert.equal(quantile([7], 0.01), 7);
  });

  test('of nothing are no number', () => {
    assert.ok(Number.isNaN(median([])));
    assert.deepEqual(summarize([]), {
      count: 0,
      median: Number.NaN,
      low: Number.NaN,
      high: Number.NaN,
      p99: Number.NaN,
    });
  });

  test('leave the values as they are', () => {
    const values = [3, 1, 2];
    summarize(values);
    assert.deepEqual(values, [3, 1, 2]);
  });

  test('make up a summary', () => {
    const values = Array.from({ length: 101 }, (_, index) => index);
    assert.deepEqual(summarize(values), { count: 101, median: 50, low: 25, high: 75, p99: 99 });
  });
});

describe('the ratio of medians', () => {
  /** Values around a middle, as far as 10 % away. */
  function around(middle: number, count: number, random: () => number): readonly number[] {
    return Array.from({ length: count }, () => middle * (0.9 + 0.2 * random()));
  }

  test('is that of the samples, inside its interval', () => {
    const random = seeded(1);
    const { ratio, low, high } = ratioOfMedians(around(2, 50, random), around(10, 50, random), { random });
    assert.ok(low <= ratio && ratio <= high, `${low} ${ratio} ${high}`);
    assert.ok(Math.abs(ratio - 0.2) < 0.02, `${ratio}`);
    assert.ok(high - low < 0.04, `${low}-${high}`);
  });

  test('has an interval that gets narrower with more values', () => {
    const random = seeded(2);
    const width = (count: number) => {
      const { low, high } = ratioOfMedians(around(1, count, random), around(1, count, random), { random });
      return high - low;
    };
    assert.ok(width(400) < width(10) / 2);
  });

  test('has an interval that holds the true ratio about 95 times in 100', () => {
    const random = seeded(3);
    const hits = Array.from({ length: 200 }, () => {
      const { low, high } = ratioOfMedians(around(1, 30, random), around(2, 30, random), {
        random,
        draws: 300,
      });
      return low <= 0.5 && 0.5 <= high;
    }).filter(Boolean).length;
    assert.ok(hits >= 176 && hits <= 200, `${hits} of 200`);
  });

  test('of single values is exact', () => {
    assert.deepEqual(ratioOfMedians([1], [4], { random: seeded(1) }), { ratio: 0.25, low: 0.25, high: 0.25 });
  });

  test('is the same for the same seed', () => {
    const draw = (seed: number) => ratioOfMedians([1, 2, 3, 5], [2, 4, 6, 7], { random: seeded(seed) });
    assert.deepEqual(draw(7), draw(7));
  });
});

describe('the median of ratios', () => {
  /** Pairs whose values wander together, by as much as tenfold, and differ by a factor. */
  function pairs(factor: number, count: number, random: () => number) {
    const to = Array.from({ length: count }, () => 1 + 9 * random());
    return { of: to.map((value) => value * factor * (0.98 + 0.04 * random())), to };
  }

  test('says nothing of what changes from pair to pair', () => {
    const random = seeded(4);
    const { of, to } = pairs(1.1, 20, random);
    const { ratio, low, high } = medianOfRatios(of, to, { random });
    assert.ok(low <= ratio && ratio <= high, `${low} ${ratio} ${high}`);
    assert.ok(Math.abs(ratio - 1.1) < 0.02, `${ratio}`);
    assert.ok(high - low < 0.04, `${low}-${high}`);
    const unpaired = ratioOfMedians(of, to, { random });
    assert.ok(unpaired.high - unpaired.low > 5 * (high - low));
  });

  test('has an interval that holds the true ratio about 95 times in 100', () => {
    const random = seeded(5);
    const hits = Array.from({ length: 200 }, () => {
      const { of, to } = pairs(1, 20, random);
      const { low, high } = medianOfRatios(of, to, { random, draws: 300 });
      return low <= 1 && 1 <= high;
    }).filter(Boolean).length;
    assert.ok(hits >= 176 && hits <= 200, `${hits} of 200`);
  });
});

test('seeded numbers are spread over 0 to below 1', () => {
  const random = seeded(42);
  const tenths = new Array<number>(10).fill(0);
  for (let drawn = 0; drawn < 10_000; drawn++) {
    const number = random();
    assert.ok(number >= 0 && number < 1);
    tenths[Math.floor(number * 10)] = (tenths[Math.floor(number * 10)] ?? 0) + 1;
  }
  for (const count of tenths) assert.ok(count > 850 && count < 1150, `${tenths}`);
});
