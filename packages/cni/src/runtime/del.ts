/**
 * DEL: the plugins in reverse. One that fails does not keep the others from their work; the cache entry then
 * stays, so that DEL can be tried again.
 *
 * DEL runs the configuration that ADD ran, as the cache has it, rather than the network's present one. What
 * ADD made can only be found by what ADD was told: a port mapping or a data directory that was changed since,
 * or a network that was renamed, would otherwise leave things behind for ever.
 */
import { ErrorList } from '@heddle/errors';
import { type AttachmentId, CNI_CODE, CniError, prevResultFor, validateAttachment } from '../index.ts';
import { ahead } from './ahead.ts';
import type { CacheEntry } from './cache-entry.ts';
import { cachedPrevResult } from './check.ts';
import {
  type Attachment,
  type CallOptions,
  callPlugin,
  identify,
  knownAttachments,
  type RuntimeContext,
  wrapPluginError,
} from './context.ts';
import { type Chain, chainOf, networkFromBytes } from './network.ts';
import type { Environment } from './plugin-environment.ts';
import { messageOf } from './wrap-error.ts';

/** How to run DEL. */
export interface DelOptions extends CallOptions {
  /**
   * Use what ADD was called with, from the cache, in place of the network's present configuration. When the
   * network has no such attachment, but the container has an interface of that name on another network, that
   * is it: the network was renamed. Default true.
   */
  readonly useCachedConfig?: boolean;
  /** Ends DEL at the first plugin that fails, as libcni does. Default false. */
  readonly stopAtFirstError?: boolean;
}

/** What is to be deleted, and how. */
export interface Deletion {
  readonly chain: Chain;
  readonly attachment: Attachment;
}

/** Detaches a container. `present` is the network as it is now, or only its name when it is not there any more. */
export async function del(
  context: RuntimeContext,
  present: Chain | string,
  attachment: Attachment,
  options: DelOptions = {},
): Promise<void> {
  const name = typeof present === 'string' ? present : present.name;
  const asked: AttachmentId = {
    network: name,
    containerID: attachment.containerID,
    ifName: attachment.ifName,
  };
  validateAttachment(asked);
  const usesCache = options.useCachedConfig !== false;
  const id = usesCache ? locate(context, asked) : asked;
  using exclusion = await context.locks.attachment(id.network, id.containerID, options.signal);
  const cached = usesCache ? fromCache(context, id, attachment) : undefined;
  const deletion = cached ?? (typeof present === 'string' ? undefined : { chain: present, attachment });
  if (deletion === undefined) {
    const what = `delete network "${name}" from container "${attachment.containerID}"`;
    throw new CniError(CNI_CODE.NOT_FOUND, `${what}: no configuration of it is cached`, {
      code: 'NOT_CACHED',
    });
  }
  await deleteAttachment(context, deletion, exclusion.env, options);
}

/** Runs DEL of one attachment, whose locks are held, and forgets it when all plugins have succeeded. */
export async function deleteAttachment(
  context: RuntimeContext,
  { chain, attachment }: Deletion,
  env: Environment,
  { signal, trace, stopAtFirstError = false }: DelOptions,
): Promise<void> {
  const call = {
    chain,
    attachment,
    env,
    signal,
    trace,
    prevResult: tolerantPrevResult(context, chain, attachment),
  };
  const errors = await deletePlugins(context, call, stopAtFirstError);
  if (errors.length === 0) forget(context, identify(chain, attachment));
  ErrorList.throwIfAny(`delete network "${chain.name}" from container "${attachment.containerID}"`, errors);
}

type ChainCall = Omit<Parameters<typeof callPlugin>[1], 'plugin' | 'command'> & {
  readonly attachment: Attachment;
};

/** Runs DEL of every plugin, last to first, and gives what went wrong. */
export async function deletePlugins(
  context: RuntimeContext,
  call: ChainCall,
  stopAtFirstError = false,
): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const plugins = call.chain.plugins.toReversed();
  const calls = plugins.map((plugin) => ({ ...call, plugin, command: 'DEL' }) as const);
  const prepared = await ahead(context, { calls, stopsAtFailure: stopAtFirstError });
  for (const each of calls) {
    try {
      await callPlugin(prepared, each);
    } catch (error) {
      errors.push(wrapPluginError(call.chain, each.plugin, 'delete', error));
      if (stopAtFirstError || call.signal?.aborted) break;
    }
  }
  return errors;
}

/** What ADD was called with; what the caller says about DEL itself comes first. */
export function fromCache(
  context: RuntimeContext,
  id: AttachmentId,
  attachment: Attachment,
): Deletion | undefined {
  const entry = readTolerantly(context, id);
  if (entry === undefined) return undefined;
  try {
    const chain = chainOf(networkFromBytes(entry.config));
    if (chain.name !== id.network) return undefined;
    const { args, capabilityArgs } = entry;
    return {
      chain,
      attachment: {
        ...(args !== undefined && { args }),
        ...(capabilityArgs && { capabilityArgs }),
        ...attachment,
      },
    };
  } catch (error) {
    context.onWarning(
      `using the present configuration of network "${id.network}", not the cached one: ${messageOf(error)}`,
    );
    return undefined;
  }
}

function readTolerantly(context: RuntimeContext, id: AttachmentId): CacheEntry | undefined {
  try {
    return context.cache.read(id);
  } catch {
    // The result is read next, and that says what is wrong.
    return undefined;
  }
}

/** The attachment that is meant: the one asked for, or the container's interface on a network renamed since. */
function locate(context: RuntimeContext, asked: AttachmentId): AttachmentId {
  const same = knownAttachments(context, asked.containerID).filter(({ ifName }) => ifName === asked.ifName);
  const [other] = same;
  if (other === undefined || same.length > 1 || other.network === asked.network) return asked;
  const what = `interface "${asked.ifName}" of container "${asked.containerID}"`;
  context.onWarning(`${what} is on network "${other.network}", not "${asked.network}": deleting that`);
  return { network: other.network, containerID: other.containerID, ifName: other.ifName };
}

function tolerantPrevResult(context: RuntimeContext, chain: Chain, attachment: Attachment) {
  if (prevResultFor('DEL', chain.cniVersion) !== 'cache') return undefined;
  try {
    return cachedPrevResult(context, chain, attachment);
  } catch (error) {
    context.onWarning(`${messageOf(error)}: deleting without it`);
    forget(context, identify(chain, attachment));
    return undefined;
  }
}

function forget(context: RuntimeContext, id: AttachmentId): void {
  try {
    context.cache.remove(id);
  } catch (error) {
    context.onWarning(messageOf(error));
  }
}
