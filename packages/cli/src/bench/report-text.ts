/** A measurement for people. */
import {
  type BenchReport,
  failureLines,
  figure,
  type NetworkReport,
  type PluginRow,
  pluginRowsOf,
  ROW_TITLES,
  type Row,
  rowsOf,
} from '@heddle/bench';
import { formatFacts, formatTable } from '../output/table.ts';

/** The text of a report; `wide` has what each plugin took, too. */
export function reportText(
  { environment, workload, networks }: BenchReport,
  { styled, wide }: { readonly styled: boolean; readonly wide: boolean },
): string {
  const { processor, processors, governor, kernel, system, load, heddle, commit } = environment;
  const { rounds, warmup, batch, parallel, ports, fill } = workload;
  const facts = formatFacts(
    [
      ['machine', `${processors} × ${processor}, governor ${governor}; Linux ${kernel}, ${system}`],
      ['load', `${figure(load.before)} before, ${figure(load.after)} after`],
      ['heddle', `${heddle}, commit ${commit.slice(0, 12)}`],
      [
        'rounds',
        `${rounds} of ${batch} pods, ${parallel} at a time, each with ${ports} ports; ${warmup} before them`,
      ],
      [
        'on the node',
        `${fill.pods} pods, ${fill.reservations} reservations, ${fill.mappings} published ports`,
      ],
    ],
    styled,
  );
  return [facts, ...networks.map((each) => networkText(each, styled, wide))].join('\n');
}

function networkText(report: NetworkReport, styled: boolean, wide: boolean): string {
  const versions = report.contenders.flatMap(
    ({ name, directory, hasAgent, versions }): [string, string][] => [
      [name, `${directory}${hasAgent ? ', with an agent' : ''}`],
      ...(wide ? Object.entries(versions).map(([type, said]): [string, string] => [`  ${type}`, said]) : []),
    ],
  );
  const plugins = pluginRowsOf(report);
  const probed = report.probes.map((probe) => `each pod's first packet went to ${probe}`);
  const lines = [...probed, ...report.notes, ...failureLines(report)].map((each) => `${each}\n`);
  return [
    `${report.network}: ${report.chain.join(', ')}\n`,
    formatFacts(versions, styled),
    '\n',
    formatTable(COLUMNS, rowsOf(report), styled),
    ...(wide && plugins.length > 0 ? ['\n', formatTable(PLUGIN_COLUMNS, plugins, styled)] : []),
    ...(lines.length > 0 ? ['\n', ...lines] : []),
  ].join('');
}

const COLUMNS = (Object.keys(ROW_TITLES) as (keyof Row)[]).map((key) => ({
  title: ROW_TITLES[key],
  value: (row: Row) => row[key],
}));

const PLUGIN_COLUMNS = [
  { title: 'VERB', value: ({ verb }: PluginRow) => verb },
  { title: 'PLUGIN', value: ({ plugin }: PluginRow) => plugin },
  { title: 'SIDE', value: ({ contender }: PluginRow) => contender },
  { title: 'MS (MIDDLE HALF)', value: ({ latency }: PluginRow) => latency },
];
