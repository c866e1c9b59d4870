/** STATUS: whether the network could attach a container now. */
import { type CallOptions, callPlugin, hasVersion, type RuntimeContext } from './context.ts';
import type { Chain } from './network.ts';

/** Asks the plugins in order; the first that is not ready ends it. Before version 1.1.0 nobody is asked. */
export async function status(
  context: RuntimeContext,
  chain: Chain,
  { signal, trace }: CallOptions = {},
): Promise<void> {
  if (!hasVersion(chain, '1.1.0')) return;
  for (const plugin of chain.plugins) {
    await callPlugin(context, { chain, plugin, command: 'STATUS', env: context.env, signal, trace });
  }
}
