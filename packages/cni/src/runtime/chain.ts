/** A chain of plugins as one job: running it, and meeting its outcomes one after the other. */
import { sortMembers } from '../go-json.ts';
import { goJson, isJsonObject, type JsonObject, parseJson, renderResult } from '../index.ts';
import type { PluginOutcome } from '../plugin/index.ts';
import type { ChainRun, PluginExec, PluginRun } from './plugin-exec.ts';
import { failedPlugin } from './plugin-failure.ts';
import { decodePluginResult } from './plugin-result.ts';

/**
 * Runs a chain.
 *
 * @param runOne runs one plugin; a failure is an outcome
 * @returns the outcomes of those that were run
 */
export async function runChain(
  { runs, resultVersion, stopsAtFailure, signal }: ChainRun,
  runOne: (run: PluginRun) => Promise<PluginOutcome>,
): Promise<readonly PluginOutcome[]> {
  const outcomes: PluginOutcome[] = [];
  let prevResult: JsonObject | undefined;
  for (const run of runs) {
    if (signal?.aborted) break;
    const outcome = await runOne(prevResult === undefined ? run : withPrevResult(run, prevResult));
    outcomes.push(outcome);
    if (outcome.exitCode !== 0 && stopsAtFailure) break;
    if (resultVersion === undefined) continue;
    try {
      const result = decodePluginResult(outcome.stdout, resultVersion, run);
      prevResult = renderResult(result, result.cniVersion);
    } catch {
      // Whoever meets the outcome says what is wrong with it.
      break;
    }
  }
  return outcomes;
}

/** Gives the outcomes of a chain to those who run its plugins in order. What was not run is run now. */
export function outcomesAsExec(outcomes: readonly PluginOutcome[], otherwise: PluginExec): PluginExec {
  const left = [...outcomes];
  return {
    find: otherwise.find,
    async run(run) {
      const outcome = left.shift();
      if (outcome === undefined) return await otherwise.run(run);
      if (outcome.exitCode !== 0) throw failedPlugin(run, outcome);
      return outcome;
    },
  };
}

/** The configuration as the runtime makes it of its parts: members are sorted. */
function withPrevResult(run: PluginRun, prevResult: JsonObject): PluginRun {
  const text = typeof run.stdin === 'string' ? run.stdin : new TextDecoder().decode(run.stdin);
  const config = parseJson(text);
  if (!isJsonObject(config)) return run;
  return { ...run, stdin: goJson(sortMembers<JsonObject>({ ...config, prevResult })) };
}
