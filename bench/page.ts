/** Results as Markdown, for `docs/performance.md`. */
import {
  failureLines,
  figure,
  type NetworkReport,
  pluginRowsOf,
  ROW_TITLES,
  type Row,
  rowsOf,
  spread,
} from '@heddle/bench';
import type { Results } from './results.ts';

/** All tables of a run. */
export function page(results: Results): string {
  const { environment, rounds, targets } = results;
  const { at, processors, processor, kernel, system, load, heddle, commit } = environment;
  return [
    `Measured ${at.slice(0, 16).replace('T', ' ')} UTC with ${rounds} rounds, on ${processors} processors (${processor}), ` +
      `Linux ${kernel}, ${system}; load ${figure(load.before)} before, ${figure(load.after)} after; ` +
      `Heddle ${heddle}, commit ${commit.slice(0, 12)}.`,
    table(
      ['what', 'target', 'measured', 'met'],
      targets.map(({ what, target, measured, met }) => [what, target, measured, met ? 'yes' : '**no**']),
    ),
    networkPart('Bridge and host-local', results.bridge),
    networkPart('The full chain', results.chain),
    pluginPart(results.chain),
    networkPart('Many at a time', results.mass),
    networkPart('A node in use', results.growth),
    `### Audit of a directory\n\n${table(
      ['what', 'ms (middle half)'],
      results.audits.map(({ name, milliseconds }) => [name, spread(milliseconds)]),
    )}`,
    ...results.others.map((report) => networkPart(`${report.network}`, report)),
  ].join('\n\n');
}

function networkPart(title: string, report: NetworkReport): string {
  const keys = (Object.keys(ROW_TITLES) as (keyof Row)[]).filter((key) => key !== 'throughputRatio');
  const lines = [...report.notes, ...failureLines(report)];
  return [
    `### ${title}`,
    table(
      keys.map((key) => ROW_TITLES[key].toLowerCase()),
      rowsOf(report).map((row) => keys.map((key) => row[key])),
    ),
    ...(lines.length > 0 ? [lines.map((each) => `- ${each}`).join('\n')] : []),
  ].join('\n\n');
}

/** Each plugin of the chain, the sides next to each other. */
function pluginPart(report: NetworkReport): string {
  const rows = pluginRowsOf(report);
  const names = report.contenders.map(({ name }) => name);
  const kinds = [...new Set(rows.map(({ verb, plugin }) => `${verb} ${plugin}`))];
  return [
    '### Each plugin of the chain, in milliseconds',
    table(
      ['verb and plugin', ...names],
      kinds.map((kind) => [
        kind,
        ...names.map(
          (name) =>
            rows.find((row) => row.contender === name && `${row.verb} ${row.plugin}` === kind)?.latency ?? '',
        ),
      ]),
    ),
  ].join('\n\n');
}

/** A table that can be read as it is, too. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [titles, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = titles.map((_, column) => Math.max(3, ...cells.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = cells;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join(
    '\n',
  );
}
