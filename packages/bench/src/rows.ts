/** A report as the rows of a table. */
import type { Measurement, NetworkReport } from './report.ts';
import type { Ratio, Summary } from './statistics.ts';

/** One verb of one contender, in words. */
export interface Row {
  readonly verb: string;
  readonly contender: string;
  /** Median and middle half, in milliseconds. */
  readonly latency: string;
  readonly p99: string;
  /** Attachments a second. */
  readonly throughput: string;
  /** Multiples of the first contender's figures. */
  readonly latencyRatio: string;
  readonly throughputRatio: string;
  readonly counted: string;
}

/** The titles of a row's parts. */
export const ROW_TITLES: Readonly<Record<keyof Row, string>> = {
  verb: 'VERB',
  contender: 'SIDE',
  latency: 'MS (MIDDLE HALF)',
  p99: 'P99',
  throughput: 'PER SECOND',
  latencyRatio: 'TIME RATIO (95 %)',
  throughputRatio: 'RATE RATIO (95 %)',
  counted: 'COUNTED',
};

/** The rows of a report. */
export function rowsOf({ measurements }: NetworkReport): readonly Row[] {
  return measurements.map(rowOf);
}

/** The single plugins' rows. Where a chain has one plugin there are none. */
export function pluginRowsOf({ measurements }: NetworkReport): readonly PluginRow[] {
  return measurements.flatMap(({ verb, contender, plugins }) =>
    plugins.length < 2
      ? []
      : plugins.map((plugin) => ({ verb, plugin: plugin.type, contender, latency: spread(plugin) })),
  );
}

/** One plugin in one verb of one contender. */
export interface PluginRow {
  readonly verb: string;
  readonly plugin: string;
  readonly contender: string;
  readonly latency: string;
}

/** The failures of a report, one line each. */
export function failureLines({ measurements }: NetworkReport): readonly string[] {
  return measurements.flatMap(({ verb, contender, failures }) =>
    Object.entries(failures).map(([why, count]) => `${verb} of ${contender} failed ${count} times: ${why}`),
  );
}

/** A median with its middle half. */
export function spread({ count, median, low, high }: Summary): string {
  return count === 0 ? '-' : `${figure(median)} (${figure(low)}-${figure(high)})`;
}

/** Three significant digits, or all before the point. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function rowOf({ verb, contender, latency, throughput, comparison, failures }: Measurement): Row {
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
  return {
    verb,
    contender,
    latency: spread(latency),
    p99: figure(latency.p99),
    throughput: figure(throughput.median),
    latencyRatio: ratioText(comparison?.latency),
    throughputRatio: ratioText(comparison?.throughput),
    counted: `${latency.count}/${latency.count + failed}`,
  };
}

/** A ratio with its interval. */
export function ratioText(ratio: Ratio | undefined): string {
  return ratio === undefined ? '' : `${figure3(ratio.ratio)} (${figure3(ratio.low)}-${figure3(ratio.high)})`;
}

/** Ratios go far below one. */
function figure3(value: number): string {
  if (!Number.isFinite(value)) return '-';
  return value < 1 ? value.toFixed(3) : figure(value);
}
