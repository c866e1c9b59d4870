/**
 * GC: first DEL of every cached attachment that nobody claims any more, then the plugins' own GC. It has the
 * network to itself meanwhile, and goes on past everything that fails.
 */
import { ErrorList } from '@heddle/errors';
import { type ValidAttachment, validateNetworkName } from '../index.ts';
import type { CachedAttachment } from './cache.ts';
import { type CallOptions, callPlugin, hasVersion, type RuntimeContext } from './context.ts';
import { deleteAttachment, fromCache } from './del.ts';
import type { Exclusion } from './held-locks.ts';
import type { Chain } from './network.ts';
import { messageOf, wrapError } from './wrap-error.ts';

/**
 * Frees what attachments that are not in `valid` have left. Succeeds without doing anything when the network
 * says `disableGC`.
 */
export async function gc(
  context: RuntimeContext,
  chain: Chain,
  valid: readonly ValidAttachment[],
  options: CallOptions = {},
): Promise<void> {
  validateNetworkName(chain.name);
  if (chain.disableGC) return;
  using exclusion = await context.locks.wholeNetwork(chain.name, options.signal);
  const job = { context, chain, valid, exclusion, options };
  const errors = [...(await deleteStale(job)), ...(await collect(job))];
  ErrorList.throwIfAny(`gc of network "${chain.name}"`, errors);
}

interface Job {
  readonly context: RuntimeContext;
  readonly chain: Chain;
  readonly valid: readonly ValidAttachment[];
  readonly exclusion: Exclusion;
  readonly options: CallOptions;
}

async function deleteStale(job: Job): Promise<readonly unknown[]> {
  const { context, chain, valid, options } = job;
  const claimed = new Set(valid.map(({ containerID, ifname }) => `${containerID}/${ifname}`));
  const errors: unknown[] = [];
  for (const cached of cachedAttachments(context)) {
    const { network, containerID, ifName } = cached;
    if (network !== chain.name || claimed.has(`${containerID}/${ifName}`)) continue;
    if (options.signal?.aborted) break;
    try {
      await deleteCached(job, cached);
    } catch (error) {
      errors.push(wrapError(`failed to delete stale attachment ${containerID} ${ifName}`, error));
    }
  }
  return errors;
}

/** A cache that cannot be read must not keep the plugins from their own GC. */
function cachedAttachments(context: RuntimeContext): readonly CachedAttachment[] {
  try {
    return context.cache.attachments();
  } catch (error) {
    context.onWarning(messageOf(error));
    return [];
  }
}

async function deleteCached(
  { context, chain, exclusion, options }: Job,
  cached: CachedAttachment,
): Promise<void> {
  const { containerID, ifName, netns, args, capabilityArgs } = cached;
  using both = await exclusion.container(containerID, options.signal);
  const attachment = {
    containerID,
    ifName,
    ...(netns !== undefined && { netns }),
    ...(args !== undefined && { args }),
    ...(capabilityArgs !== undefined && { capabilityArgs }),
  };
  const deletion = fromCache(context, cached, attachment) ?? { chain, attachment };
  await deleteAttachment(context, deletion, both.env, options);
}

async function collect({ context, chain, valid, exclusion, options }: Job): Promise<readonly unknown[]> {
  if (!hasVersion(chain, '1.1.0')) return [];
  const errors: unknown[] = [];
  for (const plugin of chain.plugins) {
    const { signal, trace } = options;
    try {
      await callPlugin(context, { chain, plugin, command: 'GC', valid, env: exclusion.env, signal, trace });
    } catch (error) {
      errors.push(wrapError(`failed to GC plugin ${plugin.type}`, error));
    }
    if (signal?.aborted) break;
  }
  return errors;
}
