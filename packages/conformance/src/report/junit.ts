/** Reports in the form that continuous integration systems read: JUnit's XML. */
import { SUITES } from '../check.ts';
import type { Outcome, RunReport } from '../run.ts';
import { explain } from './explain.ts';
import type { Invocation } from './reproduce.ts';
import { nameOf, tally } from './summary.ts';

/** A run as a JUnit document: a test suite for each suite, a test case for each check. */
export function junitReport(run: RunReport, invocation: Invocation): string {
  const { outcomes, milliseconds } = run;
  const type = nameOf(run);
  const { failed } = tally(outcomes);
  const suites = SUITES.map((suite) => [suite, outcomes.filter((each) => each.suite === suite)] as const)
    .filter(([, own]) => own.length > 0)
    .flatMap(([suite, own]) => {
      const counts = tally(own);
      const skipped = counts.skipped + counts.unclaimed;
      const time = seconds(own.reduce((sum, each) => sum + each.milliseconds, 0));
      return [
        `  <testsuite name="${escaped(`${type} ${suite}`)}" tests="${own.length}" failures="${counts.failed}" errors="0" skipped="${skipped}" time="${time}">`,
        ...own.flatMap((outcome) => caseLines(outcome, type, invocation)),
        '  </testsuite>',
      ];
    });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escaped(`CNI conformance of ${type}`)}" tests="${outcomes.length}" failures="${failed}" time="${seconds(milliseconds)}">`,
    ...suites,
    '</testsuites>',
  ]
    .join('\n')
    .concat('\n');
}

function caseLines(outcome: Outcome, type: string, invocation: Invocation): readonly string[] {
  const { id, title, suite, status, reason = '', failure, milliseconds } = outcome;
  const open = `    <testcase classname="${escaped(`${type}.${suite}`)}" name="${escaped(`${id}: ${title}`)}" time="${seconds(milliseconds)}"`;
  if (status === 'passed') return [`${open}/>`];
  const text = explain(outcome, invocation)
    .map(([name, words]) => `${name}: ${words}`)
    .join('\n');
  const inside =
    failure === undefined
      ? `      <skipped message="${escaped(status === 'unclaimed' ? `not claimed: ${reason}` : reason)}"/>`
      : `      <failure message="${escaped(`expected ${failure.expected}; got ${failure.got}`)}">${escaped(text)}</failure>`;
  return [`${open}>`, inside, '    </testcase>'];
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

/** Characters that XML cannot hold become question marks. */
function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    '\n': '&#10;',
  };
  return Array.from(text.toWellFormed(), (sign) => entities[sign] ?? (isAllowed(sign) ? sign : '?')).join('');
}

/** Char of XML 1.0. */
function isAllowed(sign: string): boolean {
  const code = sign.codePointAt(0) ?? 0;
  return code === 0x9 || code === 0xa || code === 0xd || (code >= 0x20 && code !== 0xfffe && code !== 0xffff);
}
