/** ADD: the plugins one after the other, each with the result of the one before. */
import {
  CniError,
  DecodeError,
  type JsonObject,
  type Result,
  renderResult,
  validateAttachment,
} from '../index.ts';
import { ahead } from './ahead.ts';
import {
  type Attachment,
  type CallOptions,
  callPlugin,
  identify,
  type PluginCall,
  type RuntimeContext,
  wrapPluginError,
} from './context.ts';
import { deletePlugins } from './del.ts';
import type { Exclusion } from './held-locks.ts';
import type { Chain } from './network.ts';
import { decodePluginResult } from './plugin-result.ts';
import { validateChain } from './validate.ts';
import { messageOf } from './wrap-error.ts';

/** How to run ADD. */
export interface AddOptions extends CallOptions {
  /**
   * When ADD fails and a plugin has run, runs DEL of the whole chain, in reverse and without a previous result;
   * what that cannot do, and ADD's error has not said, is warned of. Default: what has been set up is left to the caller's DEL, as libcni leaves it.
   */
  readonly undoOnFailure?: boolean;
  /** Milliseconds that this clean-up may take. Default one minute. */
  readonly undoTimeout?: number;
  /** Asks every plugin first whether it speaks the configuration's version. Default: they are not asked. */
  readonly validateFirst?: boolean;
}

/** Attaches a container. */
export async function add(
  context: RuntimeContext,
  chain: Chain,
  attachment: Attachment,
  options: AddOptions = {},
): Promise<Result> {
  const id = identify(chain, attachment);
  validateAttachment(id);
  using exclusion = await context.locks.attachment(chain.name, attachment.containerID, options.signal);
  if (options.validateFirst === true) await validateChain(context, chain, exclusion.env, options);
  const wasThere = isCached(context, chain, attachment);
  let hasStarted = false;
  const onStart = (): void => {
    hasStarted = true;
  };
  try {
    const result = await addPlugins(context, chain, attachment, exclusion, { ...options, onStart });
    context.cache.write({
      ...id,
      config: chain.bytes,
      ...(attachment.netns !== undefined && { netns: attachment.netns }),
      ...(attachment.args !== undefined && { args: attachment.args }),
      ...(attachment.capabilityArgs !== undefined && { capabilityArgs: attachment.capabilityArgs }),
      result: renderResult(result, result.cniVersion),
    });
    return result;
  } catch (error) {
    if (options.undoOnFailure === true && hasStarted)
      await undo(context, chain, attachment, { exclusion, wasThere, options, error });
    throw error;
  }
}

async function addPlugins(
  context: RuntimeContext,
  chain: Chain,
  attachment: Attachment,
  { env }: Exclusion,
  { signal, trace, onStart }: CallOptions & Pick<PluginCall, 'onStart'>,
): Promise<Result> {
  const calls = chain.plugins.map(
    (plugin): PluginCall => ({ chain, plugin, command: 'ADD', attachment, env, signal, trace, onStart }),
  );
  const prepared = await ahead(context, { calls, passesResults: true, stopsAtFailure: true });
  let result: Result | undefined;
  for (const call of calls) {
    const prevResult: JsonObject | undefined = result && renderResult(result, result.cniVersion);
    try {
      const { stdout, path } = await callPlugin(prepared, { ...call, prevResult });
      result = decodePluginResult(stdout, chain.cniVersion, { type: call.plugin.type, path });
    } catch (error) {
      throw wrapPluginError(chain, call.plugin, 'add', error);
    }
  }
  if (result === undefined) throw new DecodeError(`network "${chain.name}" has no plugins`);
  return result;
}

interface Undo {
  readonly exclusion: Exclusion;
  readonly wasThere: boolean;
  readonly options: AddOptions;
  /** Why ADD failed. */
  readonly error: unknown;
}

async function undo(
  context: RuntimeContext,
  chain: Chain,
  attachment: Attachment,
  { exclusion, wasThere, options: { undoTimeout = UNDO_TIMEOUT, trace }, error }: Undo,
): Promise<void> {
  const what = `failed add of network "${chain.name}" for container "${attachment.containerID}"`;
  if (wasThere) {
    // Its DEL would take down what the earlier ADD set up, and that may be in use.
    context.onWarning(`${what}: not cleaned up, because an earlier add of it was never deleted`);
    return;
  }
  // The caller's signal has perhaps just ended ADD; it must not end the clean-up too.
  const signal = AbortSignal.timeout(undoTimeout);
  const call = { chain, attachment, env: exclusion.env, signal, trace };
  // What a DEL that succeeds has to remark is of what made ADD fail, and ADD's error says that.
  for (const problem of await deletePlugins({ ...context, onStderr: () => undefined }, call)) {
    if (reasonOf(problem) !== reasonOf(error)) {
      context.onWarning(`${what}: clean-up: ${messageOf(problem)}`);
    }
  }
}

/** The text without the name of the plugin and of what it was to do. */
function reasonOf(error: unknown): string {
  return messageOf(error instanceof CniError && error.cause !== undefined ? error.cause : error);
}

const UNDO_TIMEOUT = 60_000;

function isCached(context: RuntimeContext, chain: Chain, attachment: Attachment): boolean {
  try {
    return context.cache.read(identify(chain, attachment)) !== undefined;
  } catch {
    // A damaged entry says nothing of what is there.
    return false;
  }
}
