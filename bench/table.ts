/** A table of measurements: one line a contender, with its ratio to another. */
import { median, quantile } from './statistics.ts';

/** The measurements of one contender. */
export interface Measured {
  readonly name: string;
  readonly milliseconds: readonly number[];
}

/** Prints the contenders, each with the ratio of ours to its median. */
export function printTable(title: string, ours: Measured, others: readonly Measured[]): void {
  const own = median(ours.milliseconds);
  const rows = [ours, ...others].map((each) => {
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) =>
      quantile(each.milliseconds, share).toFixed(2),
    );
    const ratio = each === ours ? '' : `heddle is ${(own / median(each.milliseconds)).toFixed(2)} of it`;
    return [each.name, `${middle}`, `[${low} - ${high}]`, ratio];
  });
  console.log(title);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  for (const row of rows) {
    console.log(`  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
  }
  console.log();
}
