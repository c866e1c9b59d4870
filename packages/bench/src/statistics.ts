/** The figures that a report shows, and how sure they are. */

/** A sample in a few figures. All are `NaN` for none. */
export interface Summary {
  readonly count: number;
  readonly median: number;
  /** The middle half lies between these. */
  readonly low: number;
  readonly high: number;
  readonly p99: number;
}

/** A ratio of medians, and the interval that holds it with 95 % probability. */
export interface Ratio {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/** The value below which a share of the values lies, between neighbours by interpolation. */
export function quantile(values: readonly number[], share: number): number {
  return quantileOfSorted(
    values.toSorted((a, b) => a - b),
    share,
  );
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** A sample's figures. */
export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => quantileOfSorted(sorted, share);
  return { count: values.length, median: at(0.5), low: at(0.25), high: at(0.75), p99: at(0.99) };
}

/**
 * The median of `of` as a multiple of that of `to`. The interval is a percentile bootstrap: both samples are drawn
 * anew many times, each independently, and the middle 95 % of the ratios are taken.
 *
 * @param random numbers from 0 to below 1
 * @example ratioOfMedians(ours, theirs, { random: seeded(1) }).ratio // 0.2 is a fifth of the time
 */
export function ratioOfMedians(
  of: readonly number[],
  to: readonly number[],
  { random, draws = 2000 }: { readonly random: () => number; readonly draws?: number },
): Ratio {
  const draw = () => drawnMedian(of, random) / drawnMedian(to, random);
  return { ratio: median(of) / median(to), ...middle95(draws, draw) };
}

/**
 * The median of the ratios of pairs, each of which was measured side by side, so that what changes from pair to pair says
 * nothing; with the interval that holds it with 95 % probability, found by drawing pairs anew.
 *
 * @param of as many as of `to`
 * @example
 * medianOfRatios([10, 20, 30], [5, 10, 15], { random: seeded(1) }).ratio; // 2
 */
export function medianOfRatios(
  of: readonly number[],
  to: readonly number[],
  { random, draws = 2000 }: { readonly random: () => number; readonly draws?: number },
): Ratio {
  const ratios = of.map((value, index) => value / (to[index] ?? Number.NaN));
  return { ratio: median(ratios), ...middle95(draws, () => drawnMedian(ratios, random)) };
}

/** Pseudo-random numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Between what 95 of 100 draws lie. */
function middle95(draws: number, draw: () => number): Pick<Ratio, 'low' | 'high'> {
  const drawn = Float64Array.from({ length: draws }, draw).sort();
  return { low: quantileOfSorted(drawn, 0.025), high: quantileOfSorted(drawn, 0.975) };
}

function drawnMedian(values: readonly number[], random: () => number): number {
  const drawn = Float64Array.from(values, () => values[Math.floor(random() * values.length)] ?? Number.NaN);
  return quantileOfSorted(drawn.sort(), 0.5);
}

function quantileOfSorted(sorted: ArrayLike<number>, share: number): number {
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
