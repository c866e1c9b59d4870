/** The pages of `docs/conformance`, as text. */
import { explanationOf } from './explanations.ts';
import type { Page, PageName, PageRow } from './read-page.ts';
import type { Release, RuntimeSubject } from './releases.ts';
import { IN_THE_LAB, RELEASES } from './releases.ts';
import type { Report, ReportedCheck } from './run-kit.ts';

/** Marks a page as made. */
const MADE = '<!-- Made by scripts/conformance-reports.ts. -->';

/** The page about a release. */
export function releasePage(release: Release, rows: readonly PageRow[]): string {
  return whole(
    `# Conformance of ${release.title}`,
    'What `heddle conformance` finds. A failure is no verdict: many checks go beyond the specification, and say so in ' +
      '[conformance.md](../conformance.md). Each failure was looked at; what is behind it stands below it.',
    ...(rows.some(({ subject }) => IN_THE_LAB.includes(subject)) ? [LAB] : []),
    table('plugin', 'does not apply', rows),
    ...rows.map(({ section }) => section),
  );
}

const LAB =
  `${IN_THE_LAB.map((word) => `\`${word}\``).join(', ')} were checked in the lab ([testing.md](../testing.md#the-lab)), whose ` +
  "kernel has their links. Put the command that shows a failure again into `HEDDLE_LAB=user-mode make lab CMD='…'`.";

/** A plugin's part of its release's page. */
export function pluginRow(page: Release['name'], plugin: string, report: Report): PageRow {
  const { passed, failed, skipped } = report;
  return { subject: plugin, passed, failed, other: skipped, section: section(page, plugin, report) };
}

/** The page about runtimes. */
export function runtimesPage(rows: readonly PageRow[]): string {
  return whole(
    '# Conformance of runtimes',
    'What `heddle conformance --runtime` finds. Each failure was looked at; what is behind it stands below it. What cannot be ' +
      'asked of a runtime is not claimed, with the reason.',
    table('runtime', 'not claimed', rows),
    ...rows.map(({ section }) => section),
  );
}

/** A runtime's part of that page. */
export function runtimeRow({ name, title }: RuntimeSubject, report: Report): PageRow {
  const { passed, failed, unclaimed } = report;
  const excused = report.checks.filter(({ status }) => status === 'unclaimed');
  const list = excused.map(({ id, reason }) => `- \`${id}\`: ${reason}`).join('\n');
  const parts = [
    section('runtimes', name, report, title),
    ...(excused.length === 0 ? [] : [`### ${name}: not claimed`, list]),
  ];
  return { subject: name, passed, failed, other: unclaimed, section: parts.join('\n\n') };
}

/** The page that leads to the others. @param pages as they are now */
export function indexPage(pages: readonly Page[]): string {
  const releases = pages.filter(({ name }) => name !== 'runtimes');
  const plugins = new Set(RELEASES.flatMap((release) => release.plugins));
  const cell = (page: Page, plugin: string): string => {
    const row = page.subjects.find(({ subject }) => subject === plugin);
    return row === undefined
      ? 'not in this release'
      : `[${row.passed} / ${row.failed} / ${row.other}](${page.name}.md#${plugin})`;
  };
  return whole(
    '# What the conformance kit finds in the work of others',
    'Of each plugin: how many checks passed, how many failed, how many say nothing about it.',
    [
      `| plugin | ${releases.map(({ name, title }) => `[${title.replace('Conformance of ', '')}](${name}.md)`).join(' | ')} |`,
      `| --- | ${releases.map(() => '---').join(' | ')} |`,
      ...Array.from(plugins, (plugin) => {
        return `| ${plugin} | ${releases.map((page) => cell(page, plugin)).join(' | ')} |`;
      }),
    ].join('\n'),
    'Each failure stands on those pages, with what is behind it and the command that shows it again. ' +
      '[runtimes.md](runtimes.md) is the same for what calls plugins.',
  );
}

function whole(...parts: readonly string[]): string {
  return [MADE, ...parts].join('\n\n').concat('\n');
}

function table(what: string, last: string, rows: readonly PageRow[]): string {
  return [
    `| ${what} | passed | failed | ${last} |`,
    '| --- | --- | --- | --- |',
    ...rows.map(({ subject, passed, failed, other }) => {
      return `| [${subject}](#${subject}) | ${passed} | ${failed} | ${other} |`;
    }),
  ].join('\n');
}

function section(page: PageName, subject: string, report: Report, title?: string): string {
  return [
    `## ${subject}`,
    ...(title === undefined ? [] : [`${title}.`]),
    `${report.summary}.`,
    ...report.checks.map((check) => failureText(page, subject, check)).filter((text) => text !== ''),
  ].join('\n\n');
}

function failureText(page: PageName, subject: string, { id, title, status, failure }: ReportedCheck): string {
  if (status !== 'failed' || failure === null) return '';
  const { expected, got, cites, reproduce } = failure;
  return [
    `### ${subject}: ${id}`,
    `${title.slice(0, 1).toUpperCase()}${title.slice(1)}. Rests on ${cites}.`,
    explanationOf({ page, subject, check: id }),
    ['```text', `expected ${stable(expected)}`, `got ${stable(got)}`, '```'].join('\n'),
    ['```sh', reproduce, '```'].join('\n'),
  ].join('\n\n');
}

/** What is drawn by chance in each run is left out, so that a page changes only when a plugin does. */
function stable(text: string): string {
  const lines = text
    .replace(/\bveth[0-9a-f]{8}\b/g, 'vethXXXXXXXX')
    .replace(/\b(CNI-[A-Z-]*)[0-9a-f]{16,}\b/g, '$1…')
    .replace(/\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, 'xx:xx:xx:xx:xx:xx')
    .replace(/\bnet:\[\d+\]/g, 'net:[…]')
    .replace(/\bkit\d+-/g, 'kitN-')
    .split('\n')
    .map((line) => (line.length > 160 ? `${line.slice(0, 160)}…` : line));
  return lines.length > SHOWN
    ? [...lines.slice(0, SHOWN), `… and ${lines.length - SHOWN} lines more`].join('\n')
    : lines.join('\n');
}

/** Lines of what came: enough to see its kind. */
const SHOWN = 8;
