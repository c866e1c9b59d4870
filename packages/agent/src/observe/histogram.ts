/**
 * How long things took, as counts in buckets that grow by a constant factor. The buckets are narrow, so that a quantile
 * read from them is within a tenth of the true one; Prometheus gets every fourth bound.
 */

/** One bound for Prometheus, with the number of values up to it. */
export interface CumulativeBucket {
  /** Milliseconds. */
  readonly upTo: number;
  readonly count: number;
}

/** See the file's comment. All values are milliseconds. */
export class Histogram {
  readonly #counts = new Uint32Array(BOUNDS.length + 1);
  #count = 0;
  #sum = 0;

  /** Counts a value. */
  record(milliseconds: number): void {
    const index = Math.max(0, Math.ceil(Math.log2(milliseconds / FIRST) * PER_DOUBLING));
    const bucket = Math.min(Number.isFinite(index) ? index : 0, BOUNDS.length);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#count++;
    this.#sum += milliseconds;
  }

  /** How many values there were. */
  get count(): number {
    return this.#count;
  }

  /** All values together. */
  get sum(): number {
    return this.#sum;
  }

  /**
   * The value that a share of all values does not exceed; 0 when there are none.
   *
   * @param share 0.5 for the median
   */
  quantile(share: number): number {
    const rank = share * this.#count;
    let below = 0;
    for (const [index, count] of this.#counts.entries()) {
      if (count > 0 && below + count >= rank) {
        const upper = BOUNDS[index] ?? LAST;
        const lower = index === 0 ? 0 : (BOUNDS[index - 1] ?? LAST);
        return lower + ((upper - lower) * (rank - below)) / count;
      }
      below += count;
    }
    return 0;
  }

  /** The counts as Prometheus wants them: each includes those below. What is beyond the last bound is not in them. */
  cumulative(): readonly CumulativeBucket[] {
    const buckets: CumulativeBucket[] = [];
    let count = 0;
    for (const [index, upTo] of BOUNDS.entries()) {
      count += this.#counts[index] ?? 0;
      if (index % PER_DOUBLING === 0) buckets.push({ upTo, count });
    }
    return buckets;
  }
}

/** Milliseconds. */
const FIRST = 0.0625;
const PER_DOUBLING = 4;
const DOUBLINGS = 20;
/** 62.5 µs to 65.5 s: beyond a minute nobody waits for an answer. */
const BOUNDS: readonly number[] = Array.from(
  { length: DOUBLINGS * PER_DOUBLING + 1 },
  (_, index) => FIRST * 2 ** (index / PER_DOUBLING),
);
const LAST = FIRST * 2 ** DOUBLINGS;
