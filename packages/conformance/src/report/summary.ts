/** What came of a run, in numbers and in one line. */
import type { Outcome, RunReport } from '../run.ts';

/** How many checks ended how. */
export type Tally = Readonly<Record<Outcome['status'], number>>;

/** Counts outcomes. */
export function tally(outcomes: readonly Outcome[]): Tally {
  const count = (status: Outcome['status']) => outcomes.filter((each) => each.status === status).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    unclaimed: count('unclaimed'),
  };
}

/** One line for a badge, a log or a title. */
export function summaryLine({ outcomes }: Pick<RunReport, 'outcomes'>): string {
  const { passed, failed, unclaimed, skipped } = tally(outcomes);
  const parts = [
    `${passed} of ${passed + failed} checks passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(unclaimed > 0 ? [`${unclaimed} not claimed`] : []),
    ...(skipped > 0 ? [`${skipped} do not apply`] : []),
  ];
  return parts.join(', ');
}

/** What was checked, in a few words. */
export function nameOf({ program, plugin }: RunReport): string {
  return plugin?.type ?? program;
}
