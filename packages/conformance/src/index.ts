/** A conformance kit for CNI plugins and runtimes, on a real kernel, with no knowledge of their insides. */
export { type Check, type Citation, type Kind, SUITES, type Suite, suiteOf } from './check.ts';
export { type AttachedTracer, attachCrash } from './crash/attach.ts';
export { type CrashEnd, type CrashRequest, crashAt, type HeldProgram, holdAt } from './crash/crash-at.ts';
export { spread } from './crash/spread.ts';
export { type CrashPoint, type CrashReport, pointText } from './crash/tracer.ts';
export { CheckFailure, KitError } from './failure.ts';
export type { Call } from './lab/call.ts';
export { type Profile, parseProfile, type Unclaimed } from './profile.ts';
export { CHECKS } from './registry.ts';
export { jsonReport } from './report/json.ts';
export { junitReport } from './report/junit.ts';
export { markdownReport } from './report/markdown.ts';
export type { Invocation } from './report/reproduce.ts';
export { summaryLine, type Tally, tally } from './report/summary.ts';
export { outcomeLine, tableReport } from './report/table.ts';
export {
  type ConformanceOptions,
  checkPlugin,
  type FailureReport,
  type Outcome,
  type PluginFacts,
  type RunReport,
} from './run.ts';
export { KNOWN_RUNTIMES, type KnownRuntime, knownRuntime } from './runtime/known-runtimes.ts';
export { checkRuntime, RUNTIME_CHECKS, type RuntimeConformanceOptions } from './runtime/run-runtime.ts';
export type { RuntimeCheck } from './runtime/runtime-check.ts';
