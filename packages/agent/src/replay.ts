/** Doing the DELs that came while no agent ran. */
import { type Plugin, type PluginOutcome, serve } from '@heddle/cni/plugin';
import type { DelQueue, Handover, QueuedDel } from '@heddle/cni/runtime';
import { openNetns, SysError } from '@heddle/sys';
import { callHost, type SharedSurroundings } from './call-host.ts';
import type { AgentEvent } from './events.ts';
import { StepLog } from './observe/steps.ts';

/**
 * Does all DELs that wait, one after the other, in the order in which they were asked for. What fails stays for the
 * next time; what is no DEL is thrown away.
 */
export async function replay(
  queue: DelQueue,
  shared: SharedSurroundings,
  tell: (event: AgentEvent) => void,
): Promise<void> {
  const { dels, broken } = queue.read();
  for (const { path, error } of broken) {
    tell({ kind: 'trouble', where: 'queue', what: `throw away ${path}`, error });
    queue.remove(path);
  }
  for (const del of dels) await replayOne(queue, del, shared, tell);
}

async function replayOne(
  queue: DelQueue,
  { path, call }: QueuedDel,
  shared: SharedSurroundings,
  tell: (event: AgentEvent) => void,
): Promise<void> {
  const began = performance.now();
  const plugin = shared.plugins.get(call.type);
  if (plugin === undefined || call.env['CNI_COMMAND'] !== 'DEL') {
    tell({
      kind: 'trouble',
      where: 'queue',
      what: `throw away ${path}: no DEL of a plugin of ours`,
      error: undefined,
    });
    queue.remove(path);
    return;
  }
  const outcome = await replayed(plugin, call, shared);
  if (outcome.exitCode === 0) queue.remove(path);
  tell({ kind: 'replayed', call, outcome, milliseconds: performance.now() - began });
}

async function replayed(plugin: Plugin, call: Handover, shared: SharedSurroundings): Promise<PluginOutcome> {
  const env = { ...call.env, CNI_NETNS: netnsAsItWas(call) };
  const ports = callHost(shared, {
    call,
    netns: undefined,
    caller: new AbortController().signal,
    onStderr: () => {},
    steps: new StepLog(() => 0),
  });
  return await serve(plugin, { env, readStdin: () => call.stdin }, ports);
}

/** CNI_NETNS, if it still names what it named then. Otherwise it may by now be another container's. */
function netnsAsItWas({ env, netnsKey }: Handover): string {
  const path = env['CNI_NETNS'] ?? '';
  if (path === '' || netnsKey === undefined) return '';
  try {
    using netns = openNetns(path);
    return netns.key === netnsKey ? path : '';
  } catch (error) {
    if (error instanceof SysError) return '';
    throw error;
  }
}
