/** The text that Prometheus reads, version 0.0.4 of its format. */
import type { Histogram } from './histogram.ts';

/** What a metric is. */
export interface MetricDefinition {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** One value of a metric; the labels are in the definition's order. */
export interface Sample {
  readonly labels?: readonly string[];
  /** Seconds, for a histogram its milliseconds, else whatever the metric counts. */
  readonly value: number | Histogram;
}

/** The lines of one metric; none without a sample. */
export function exposition(
  { name, type, help, labels }: MetricDefinition,
  samples: Iterable<Sample>,
): string {
  const lines = [...samples].flatMap((sample) => {
    const pairs = labels.map((label, index) => [label, sample.labels?.[index] ?? ''] as const);
    return typeof sample.value === 'number'
      ? [`${name}${labelText(pairs)} ${sample.value}`]
      : histogramLines(name, pairs, sample.value);
  });
  if (lines.length === 0) return '';
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].map((line) => `${line}\n`).join('');
}

type Pair = readonly [name: string, value: string];

function histogramLines(name: string, pairs: readonly Pair[], histogram: Histogram): readonly string[] {
  const bucket = (bound: string, count: number) =>
    `${name}_bucket${labelText([...pairs, ['le', bound]])} ${count}`;
  return [
    ...histogram.cumulative().map(({ upTo, count }) => bucket(`${upTo / 1000}`, count)),
    bucket('+Inf', histogram.count),
    `${name}_sum${labelText(pairs)} ${histogram.sum / 1000}`,
    `${name}_count${labelText(pairs)} ${histogram.count}`,
  ];
}

function labelText(pairs: readonly Pair[]): string {
  if (pairs.length === 0) return '';
  return `{${pairs.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`;
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
