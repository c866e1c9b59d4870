/** Measures CNI plugins, as a library: `heddle bench` is its command. */
export { BenchError, type BenchErrorCode } from './bench-error.ts';
export { VERBS, type Verb } from './calls.ts';
export type { Contender } from './contender.ts';
export { type Environment, lookAround } from './environment.ts';
export type { Fill } from './fill.ts';
export { type Entry, type MeasureOptions, measureNetwork } from './measure.ts';
export type { Service } from './node.ts';
export { plotSvg } from './plot.ts';
export type {
  BenchReport,
  Comparison,
  ContenderReport,
  Measurement,
  NetworkReport,
  Samples,
} from './report.ts';
export {
  failureLines,
  figure,
  type PluginRow,
  pluginRowsOf,
  ROW_TITLES,
  type Row,
  ratioText,
  rowsOf,
  spread,
} from './rows.ts';
export { type Attempt, type Batch, type Patience, type RunOptions, Site } from './site.ts';
export {
  median,
  medianOfRatios,
  quantile,
  type Ratio,
  ratioOfMedians,
  type Summary,
  seeded,
  summarize,
} from './statistics.ts';
export { DEFAULT_WORKLOAD, type Workload } from './workload.ts';
