/** STATUS: whether the network could attach a container now. */
import { ahead } from './ahead.ts';
import { type CallOptions, callPlugin, hasVersion, type RuntimeContext } from './context.ts';
import type { Chain } from './network.ts';

/** Asks the plugins in order; the first that is not ready ends it. Before version 1.1.0 nobody is asked. */
export async function status(
  context: RuntimeContext,
  chain: Chain,
  { signal, trace }: CallOptions = {},
): Promise<void> {
  if (!hasVersion(chain, '1.1.0')) return;
  const what = { chain, command: 'STATUS', env: context.env, signal, trace } as const;
  const calls = chain.plugins.map((plugin) => ({ ...what, plugin }));
  const prepared = await ahead(context, { calls, stopsAtFailure: true });
  for (const call of calls) await callPlugin(prepared, call);
}
