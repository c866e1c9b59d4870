/**
 * GC: first DEL of every cached attachment that nobody claims any more, then the plugins' own GC. It has the
 * network to itself meanwhile, and goes on past everything that fails.
 */
import { ErrorList } from '@heddle/errors';
import { type ValidAttachment, validateNetworkName } from '../index.ts';
import { ahead } from './ahead.ts';
import type { CachedAttachment } from './cache.ts';
import {
  type CallOptions,
  callPlugin,
  hasVersion,
  knownAttachments,
  type RuntimeContext,
} from './context.ts';
import { deleteAttachment, fromCache } from './del.ts';
import type { Exclusion } from './held-locks.ts';
import type { Chain } from './network.ts';
import { wrapError } from './wrap-error.ts';

/**
 * Frees what attachments that are not in `valid` have left. An attachment that is added while GC waits for its
 * turn cannot be in `valid` and is alive all the same. Succeeds without doing anything when the network says
 * `disableGC`.
 */
export async function gc(
  context: RuntimeContext,
  chain: Chain,
  valid: readonly ValidAttachment[],
  options: CallOptions = {},
): Promise<void> {
  validateNetworkName(chain.name);
  if (chain.disableGC) return;
  const before = new Set(cachedAttachments(context, chain).map(editionOf));
  using exclusion = await context.locks.wholeNetwork(chain.name, options.signal);
  const cached = cachedAttachments(context, chain);
  const added = cached.filter((attachment) => !before.has(editionOf(attachment)));
  const alive = withAttachments(valid, added);
  const job = { context, chain, alive, exclusion, options };
  const errors = [...(await deleteStale(job, cached)), ...(await collect(job))];
  ErrorList.throwIfAny(`gc of network "${chain.name}"`, errors);
}

interface Job {
  readonly context: RuntimeContext;
  readonly chain: Chain;
  readonly alive: readonly ValidAttachment[];
  readonly exclusion: Exclusion;
  readonly options: CallOptions;
}

function cachedAttachments(context: RuntimeContext, { name }: Chain): readonly CachedAttachment[] {
  return knownAttachments(context).filter(({ network }) => network === name);
}

/** Tells an attachment from a later one of the same container and interface. */
function editionOf({ containerID, ifName, addedAt }: CachedAttachment): string {
  return `${containerID}/${ifName}/${addedAt}`;
}

function withAttachments(
  valid: readonly ValidAttachment[],
  added: readonly CachedAttachment[],
): readonly ValidAttachment[] {
  const names = new Set(valid.map(({ containerID, ifname }) => `${containerID}/${ifname}`));
  const unnamed = added.filter(({ containerID, ifName }) => !names.has(`${containerID}/${ifName}`));
  return [...valid, ...unnamed.map(({ containerID, ifName }) => ({ containerID, ifname: ifName }))];
}

async function deleteStale(job: Job, cached: readonly CachedAttachment[]): Promise<readonly unknown[]> {
  const alive = new Set(job.alive.map(({ containerID, ifname }) => `${containerID}/${ifname}`));
  const errors: unknown[] = [];
  for (const attachment of cached) {
    const { containerID, ifName } = attachment;
    if (alive.has(`${containerID}/${ifName}`)) continue;
    if (job.options.signal?.aborted) break;
    try {
      await deleteCached(job, attachment);
    } catch (error) {
      errors.push(wrapError(`failed to delete stale attachment ${containerID} ${ifName}`, error));
    }
  }
  return errors;
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

async function collect({ context, chain, alive, exclusion, options }: Job): Promise<readonly unknown[]> {
  if (!hasVersion(chain, '1.1.0')) return [];
  const errors: unknown[] = [];
  const { signal, trace } = options;
  const what = { chain, command: 'GC', valid: alive, env: exclusion.env, signal, trace } as const;
  const calls = chain.plugins.map((plugin) => ({ ...what, plugin }));
  const prepared = await ahead(context, { calls, stopsAtFailure: false });
  for (const call of calls) {
    try {
      await callPlugin(prepared, call);
    } catch (error) {
      errors.push(wrapError(`failed to GC plugin ${call.plugin.type}`, error));
    }
    if (signal?.aborted) break;
  }
  return errors;
}
