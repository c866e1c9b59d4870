/** What the operations of a runtime share, and how one of them runs a plugin. */
import type {
  AttachmentId,
  CniArgs,
  CniVersion,
  Command,
  JsonObject,
  PluginConfig,
  ValidAttachment,
} from '../index.ts';
import { atLeast, DecodeError, deriveStdin, goJson } from '../index.ts';
import type { CachedAttachment, ResultCache } from './cache.ts';
import type { HeldLocks } from './held-locks.ts';
import type { Chain } from './network.ts';
import { type Environment, pluginEnvironment, type TraceContext } from './plugin-environment.ts';
import type { PluginExec, PluginRun } from './plugin-exec.ts';
import { messageOf, wrapError } from './wrap-error.ts';

/** Everything that operations need from outside. */
export interface RuntimeContext {
  /** The plugin directories. */
  readonly path: readonly string[];
  readonly env: Environment;
  readonly exec: PluginExec;
  readonly cache: ResultCache;
  readonly locks: HeldLocks;
  readonly onWarning: (message: string) => void;
  readonly onStderr: (text: string, plugin: { readonly type: string; readonly command: Command }) => void;
}

/** What may be said about one call of the runtime. */
export interface CallOptions {
  /** Ends the plugin that runs, with everything it has started, and the call. */
  readonly signal?: AbortSignal | undefined;
  /** Given to the plugins as TRACEPARENT, TRACESTATE and BAGGAGE. */
  readonly trace?: TraceContext | undefined;
}

/** The container's side of an operation. */
export interface Attachment {
  readonly containerID: string;
  readonly ifName: string;
  /** The path of the network namespace; for DEL it may be left out when that is gone. */
  readonly netns?: string;
  /** CNI_ARGS. */
  readonly args?: CniArgs;
  /** Arguments by capability; each plugin gets those that it declares. */
  readonly capabilityArgs?: JsonObject;
}

/** One invocation of one plugin of a chain. */
export interface PluginCall extends CallOptions {
  readonly chain: Chain;
  readonly plugin: PluginConfig;
  readonly command: Command;
  readonly attachment?: Attachment;
  readonly prevResult?: JsonObject | undefined;
  /** For GC. */
  readonly valid?: readonly ValidAttachment[];
  /** Variables for what the plugin itself may run. */
  readonly env: Environment;
  /** Called when the plugin has been found and is about to run. */
  readonly onStart?: (() => void) | undefined;
}

/** Runs one plugin of a chain. */
export async function callPlugin(
  context: RuntimeContext,
  call: PluginCall,
): Promise<{ readonly stdout: string; readonly path: string }> {
  const { type } = call.plugin;
  const run = planRun(context, call);
  call.onStart?.();
  const { stdout, stderr } = await context.exec.run(run);
  if (stderr !== '') context.onStderr(stderr, { type, command: call.command });
  return { stdout, path: run.path };
}

/**
 * What an invocation is.
 *
 * @throws {CniError} when the plugin is not there, or its configuration cannot be made
 */
export function planRun(
  context: RuntimeContext,
  { chain, plugin, command, attachment, prevResult, valid, env, signal, trace }: PluginCall,
): PluginRun {
  const { type } = plugin;
  const path = context.exec.find(type, context.path);
  const stdin = deriveStdin(chain, plugin, {
    ...(prevResult !== undefined && { prevResult }),
    ...(attachment?.capabilityArgs !== undefined && { capabilityArgs: attachment.capabilityArgs }),
    ...(valid !== undefined && { attachments: valid }),
  });
  const variables = { command, path: context.path, trace, ...attachment };
  return { type, path, env: pluginEnvironment(env, variables), stdin: goJson(stdin), signal };
}

/** The attachment's identity on a network. */
export function identify(chain: Pick<Chain, 'name'>, { containerID, ifName }: Attachment): AttachmentId {
  return { network: chain.name, containerID, ifName };
}

/**
 * The attachments in the cache; those of one container when that is given. A cache that cannot be read is warned
 * of: it must not keep plugins from cleaning up.
 */
export function knownAttachments(context: RuntimeContext, containerID?: string): readonly CachedAttachment[] {
  try {
    return context.cache.attachments(containerID);
  } catch (error) {
    context.onWarning(messageOf(error));
    return [];
  }
}

/** True when the chain's version is `minimum` or newer; a version that cannot be read is not. */
export function hasVersion({ cniVersion }: Chain, minimum: CniVersion): boolean {
  try {
    return atLeast(cniVersion, minimum);
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

/** Says which plugin of a list failed, in the reference's words. The code stays. */
export function wrapPluginError(
  chain: Chain,
  { type, name }: PluginConfig,
  verb: string,
  cause: unknown,
): unknown {
  if (chain.isSingle) return cause;
  const own = name === undefined ? '' : ` name=${goJson(name)}`;
  return wrapError(`plugin type=${goJson(type)}${own} failed (${verb})`, cause);
}
