/** Reports for a page. */
import { SUITES } from '../check.ts';
import type { Outcome, RunReport } from '../run.ts';
import { explain } from './explain.ts';
import type { Invocation } from './reproduce.ts';
import { nameOf, summaryLine } from './summary.ts';

/** A run as Markdown: the summary, a table of suites, and each failure in detail. */
export function markdownReport(run: RunReport, invocation: Invocation): string {
  const failures = run.outcomes.filter(({ status }) => status === 'failed');
  const unclaimed = run.outcomes.filter(({ status }) => status === 'unclaimed');
  return [
    `## ${nameOf(run)}`,
    run.plugin === undefined
      ? `${summaryLine(run)}.`
      : `${summaryLine(run)}. A plugin of the kind “${run.plugin.kind}” that speaks ${run.plugin.versions.join(', ')}.`,
    suiteTable(run.outcomes),
    ...(unclaimed.length === 0
      ? []
      : [unclaimed.map(({ id, reason }) => `- \`${id}\` is not claimed: ${reason}`).join('\n')]),
    ...failures.map((outcome) => failureSection(outcome, invocation)),
  ]
    .join('\n\n')
    .concat('\n');
}

function suiteTable(outcomes: readonly Outcome[]): string {
  const rows = SUITES.flatMap((suite) => {
    const own = outcomes.filter((outcome) => outcome.suite === suite);
    const passed = own.filter(({ status }) => status === 'passed').length;
    const failed = own.filter(({ status }) => status === 'failed').length;
    return passed + failed === 0 ? [] : [`| ${suite} | ${passed} | ${failed} |`];
  });
  return ['| suite | passed | failed |', '| --- | --- | --- |', ...rows].join('\n');
}

function failureSection(outcome: Outcome, invocation: Invocation): string {
  const parts = explain(outcome, invocation);
  const text = (wanted: string) => parts.find(([title]) => title === wanted)?.[1] ?? '';
  const details = parts
    .filter(([title]) => ['call', 'stdin', 'ended with', 'stdout', 'stderr'].includes(title))
    .map(([title, words]) => `${title}: ${words}`);
  return [
    `### ${outcome.id}`,
    `${outcome.title.slice(0, 1).toUpperCase()}${outcome.title.slice(1)}.`,
    `- Expected ${text('expected')}; got ${text('got').split('\n').length > 1 ? 'this:' : `${text('got')}.`}`,
    ...(text('got').split('\n').length > 1 ? [fenced(text('got'))] : []),
    `- Why it matters: ${text('why it matters')}\n- Rests on: ${text('rests on')}`,
    ...(details.length === 0 ? [] : [fenced(details.join('\n'))]),
    fenced(text('again'), 'sh'),
  ].join('\n\n');
}

function fenced(text: string, language = 'text'): string {
  const fence = text.includes('```') ? '````' : '```';
  return `${fence}${language}\n${text}\n${fence}`;
}
