/**
 * Telling whoever runs the plugins of all runs of an operation before the first, so that a whole chain can be one
 * request. The operation itself is then the same as ever: it meets the outcomes one after the other.
 */
import { type PluginCall, planRun, type RuntimeContext } from './context.ts';
import type { ChainRun, PluginExec } from './plugin-exec.ts';

/** The calls of one operation, in their order. */
export interface ChainOfCalls {
  readonly calls: readonly PluginCall[];
  /** For ADD: each gets the result of the one before. */
  readonly passesResults?: boolean;
  readonly stopsAtFailure: boolean;
}

/** A context to make these calls with, in that order. */
export async function ahead(
  context: RuntimeContext,
  { calls, passesResults = false, stopsAtFailure }: ChainOfCalls,
): Promise<RuntimeContext> {
  const [first] = calls;
  if (context.exec.ahead === undefined || first === undefined) return context;
  const exec = findingOnce(context.exec);
  let runs: ChainRun['runs'];
  try {
    runs = calls.map((call) => planRun({ ...context, exec }, call));
  } catch {
    // What is wrong is told in its turn, when the plugins before it have been called.
    return { ...context, exec };
  }
  first.onStart?.();
  const chain = {
    ...{ runs, stopsAtFailure, signal: first.signal },
    ...(passesResults && { resultVersion: first.chain.cniVersion }),
  };
  const { run } = await context.exec.ahead(chain);
  return { ...context, exec: { find: exec.find, run } };
}

/** Plugins are found once, so that what was passed over is told once. */
function findingOnce(exec: PluginExec): PluginExec {
  const found = new Map<string, string>();
  return {
    run: (run) => exec.run(run),
    find(type, path) {
      const known = found.get(type) ?? exec.find(type, path);
      found.set(type, known);
      return known;
    },
  };
}
