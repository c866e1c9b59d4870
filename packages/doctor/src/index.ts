export { type Audited, type AuditRequest, audit, typesOf } from './audit/audit.ts';
export type { AuditOptions, AuditRule } from './audit/audit-rule.ts';
export { unifiedDiff } from './audit/fix/diff.ts';
export { type FileChange, planFixes } from './audit/fix/plan.ts';
export { writeChange } from './audit/fix/write.ts';
export type {
  DirectoryEntry,
  HostFacts,
  HostRoute,
  InstalledPlugin,
  InstalledPlugins,
  ReadFiles,
} from './audit/model/ports.ts';
export { RUNTIME_NAMES, type RuntimeName } from './audit/model/selection.ts';
export { nodeFiles } from './audit/node-files.ts';
export { AUDIT_RULES } from './audit/rules.ts';
export { DOCTOR_RULES } from './checks/rules.ts';
export { type Examination, type ExamineOptions, examine } from './examine.ts';
export { exitCodeFor, FOUND_EXIT } from './exit-code.ts';
export type { Candidate, Choice, Fate } from './explain/choice.ts';
export {
  type CapabilityUse,
  type ExplainedDelegate,
  type ExplainedNetwork,
  type ExplainedPlugin,
  type ExplainRequest,
  type Explanation,
  explain,
  type PodDetails,
} from './explain/explain.ts';
export { PROFILES, type RuntimeProfile, VIEWPOINTS, type Viewpoint } from './explain/runtimes.ts';
export {
  type Finding,
  type Fix,
  type Place,
  SEVERITIES,
  type Severity,
  type TextEdit,
  worst,
} from './finding.ts';
export { type Features, kernelFeatures } from './lock/features.ts';
export {
  formatLock,
  type Lock,
  type LockedFile,
  type LockedPlugin,
  type LockSignature,
  parseLock,
} from './lock/lock.ts';
export { LOCK_RULES } from './lock/rules.ts';
export { checkSignature, type SignatureProblem, signLock } from './lock/sign.ts';
export { type LockSources, type Taken, takeLock, type Unpinned } from './lock/take.ts';
export { type VerifyOptions, verifyLock } from './lock/verify.ts';
export { LOG_RULES } from './logs/messages.ts';
export { type LogSource, readLog } from './logs/read-log.ts';
export type { FileFacts, KernelLine, Machine, NodeFiles, NodePlaces, NodePorts } from './node/ports.ts';
export { systemFiles, systemMachine } from './node/system.ts';
export type { NodeView } from './node/view.ts';
export {
  type Plan,
  type PlannedChange,
  type PlannedStep,
  type PlanRequest,
  planAdd,
} from './plan/plan.ts';
export type { WrittenFile } from './plan/stage.ts';
export { type DelegateUse, delegatesOf } from './programs/delegates.ts';
export { notStarted } from './programs/not-started.ts';
export type { Program, ProgramKind, Programs } from './programs/program.ts';
export type { PluginReader } from './programs/reader.ts';
export { type SystemProgramsOptions, systemPrograms } from './programs/system-programs.ts';
export { type Freed, type FreeOptions, freeLeaks } from './repair/free-leaks.ts';
export { type GithubOptions, renderGithub } from './report/github.ts';
export { type ReportJson, renderJson } from './report/json.ts';
export { countWords, inOrder, type Report } from './report/report.ts';
export { renderSarif, type SarifOptions } from './report/sarif.ts';
export { renderText, type TextStyle } from './report/text.ts';
export { found, type Rule, type Rules, ruleRegistry } from './rule.ts';
export { RULES } from './rules.ts';
export { parseSilences, type Silence, type Silenced, silence } from './silence.ts';
export type { Step, Walk, WalkOptions } from './walk/context.ts';
