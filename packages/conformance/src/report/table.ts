/** Reports for people, on a terminal. */
import { styleText } from 'node:util';
import { SUITES } from '../check.ts';
import type { Outcome, RunReport } from '../run.ts';
import { explain } from './explain.ts';
import type { Invocation } from './reproduce.ts';
import { summaryLine } from './summary.ts';

const SIGNS = { passed: '✔', failed: '✘', skipped: '·', unclaimed: '○' } as const;
const COLOURS = { passed: 'green', failed: 'red', skipped: 'dim', unclaimed: 'yellow' } as const;

/** One line for a check that has ended. */
export function outcomeLine({ id, title, status, reason, note }: Outcome, styled: boolean): string {
  const sign = styled ? styleText(COLOURS[status], SIGNS[status], { validateStream: false }) : SIGNS[status];
  const aside = reason ?? note;
  return `${sign} ${id}  ${title}${aside === undefined ? '' : ` (${aside})`}\n`;
}

/**
 * The whole report: a line for each suite, then the failures in detail, then the summary.
 *
 * @param styled whether a terminal shows it
 */
export function tableReport(run: RunReport, invocation: Invocation, styled: boolean): string {
  const failures = run.outcomes.filter(({ status }) => status === 'failed');
  return [
    run.plugin === undefined
      ? `runtime: ${run.program}`
      : `${run.plugin.type}: ${run.plugin.kind} plugin, speaks ${run.plugin.versions.join(', ')}`,
    ...suiteLines(run.outcomes),
    ...failures.map((outcome) => `\n${failureText(outcome, invocation, styled)}`),
    `\n${summaryLine(run)} (${(run.milliseconds / 1000).toFixed(1)} s)`,
  ]
    .join('\n')
    .concat('\n');
}

function suiteLines(outcomes: readonly Outcome[]): readonly string[] {
  return SUITES.flatMap((suite) => {
    const own = outcomes.filter((outcome) => outcome.suite === suite);
    const ran = own.filter(({ status }) => status === 'passed' || status === 'failed');
    if (own.length === 0) return [];
    const passed = ran.filter(({ status }) => status === 'passed').length;
    return [`  ${suite.padEnd(12)} ${ran.length === 0 ? 'does not apply' : `${passed} of ${ran.length}`}`];
  });
}

function failureText(outcome: Outcome, invocation: Invocation, styled: boolean): string {
  const parts = explain(outcome, invocation);
  const width = Math.max(...parts.map(([title]) => title.length));
  const lines = parts.map(([title, text]) => {
    const label = title.padEnd(width);
    return `  ${styled ? styleText('dim', label, { validateStream: false }) : label}  ${text.replaceAll('\n', `\n${' '.repeat(width + 4)}`)}`;
  });
  return [`${SIGNS.failed} ${outcome.id}: ${outcome.title}`, ...lines].join('\n');
}
