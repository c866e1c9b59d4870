/** CHECK: every plugin compares what is there with the final result of ADD. */
import { atLeast, CNI_CODE, CniError, type JsonObject, renderResult, validateAttachment } from '../index.ts';
import { ahead } from './ahead.ts';
import { type Attachment, type CallOptions, callPlugin, identify, type RuntimeContext } from './context.ts';
import type { Chain } from './network.ts';

/** Checks an attachment; succeeds without running anything when the network says `disableCheck`. */
export async function check(
  context: RuntimeContext,
  chain: Chain,
  attachment: Attachment,
  { signal, trace }: CallOptions = {},
): Promise<void> {
  if (!atLeast(chain.cniVersion, '0.4.0')) {
    const msg = `configuration version "${chain.cniVersion}" does not support the CHECK command`;
    throw new CniError(CNI_CODE.INCOMPATIBLE_VERSION, msg, { code: 'CHECK_UNSUPPORTED' });
  }
  if (chain.disableCheck) return;
  validateAttachment(identify(chain, attachment));
  using exclusion = await context.locks.attachment(chain.name, attachment.containerID, signal);
  const prevResult = cachedPrevResult(context, chain, attachment);
  const what = {
    chain,
    command: 'CHECK',
    attachment,
    prevResult,
    env: exclusion.env,
    signal,
    trace,
  } as const;
  const calls = chain.plugins.map((plugin) => ({ ...what, plugin }));
  const prepared = await ahead(context, { calls, stopsAtFailure: true });
  for (const call of calls) await callPlugin(prepared, call);
}

/** The final result of ADD in the chain's version, as plugins get it. */
export function cachedPrevResult(
  context: RuntimeContext,
  chain: Chain,
  attachment: Attachment,
): JsonObject | undefined {
  const result = context.cache.result(identify(chain, attachment), chain.cniVersion);
  return result && renderResult(result, result.cniVersion);
}
