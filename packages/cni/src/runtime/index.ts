/** The runtime's side of CNI: configurations in directories, plugins as processes, the result cache. */
export type { AddOptions } from './add.ts';
export { type AgentExecOptions, agentExec } from './agent-exec.ts';
export { AttachmentTurns, type AttachmentTurnsOptions } from './attachment-turns.ts';
export { type CachedAttachment, ResultCache } from './cache.ts';
export type { CacheEntry } from './cache-entry.ts';
export { outcomesAsExec, runChain } from './chain.ts';
export { type ChainMessage, readChain } from './chain-message.ts';
export {
  defaultNetwork,
  listConfigDir,
  loadNetwork,
  loadNetworkFile,
  readConfigDir,
} from './config-directory.ts';
export type { Attachment, CallOptions } from './context.ts';
export type { DelOptions } from './del.ts';
export { DelQueue, type QueueContents, type QueuedDel } from './del-queue.ts';
export { execPlugin, type SystemExecOptions, systemExec } from './exec.ts';
export { type FoundPlugin, findPlugin } from './find.ts';
export {
  HANDOVER_FLAG,
  HANDOVER_HEADER_SIZE,
  HANDOVER_LIMIT,
  HANDOVER_VERSION,
  type Handover,
  HandoverError,
  handoverBytes,
  handoverHeader,
  readHandover,
  readHandoverHeader,
} from './handover.ts';
export { type Answer, decodeAnswer, encodeAnswer } from './handover-answer.ts';
export { type InProcessPlugins, inProcessExec } from './in-process.ts';
export { InflightMarks } from './inflight.ts';
export { FileLocks, type RuntimeLocks } from './locks.ts';
export type { Network } from './network.ts';
export {
  type Environment,
  type InvocationVariables,
  pluginEnvironment,
  type TraceContext,
} from './plugin-environment.ts';
export type { ChainRun, PluginExec, PluginOutput, PluginRun } from './plugin-exec.ts';
export { type PluginTable, type SystemPluginHostOptions, systemPluginHost } from './plugin-host.ts';
export type { PluginVersions, UnknownVersions } from './plugin-versions.ts';
export { type ProcessEnd, type ProcessRequest, runProcess } from './process.ts';
export {
  type CachedConfig,
  DEFAULT_CACHE_DIR,
  DEFAULT_LOCK_DIR,
  Runtime,
  type RuntimeOptions,
} from './runtime.ts';
