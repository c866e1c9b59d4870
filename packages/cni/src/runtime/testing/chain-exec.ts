import assert from 'node:assert/strict';
import { outcomesAsExec, runChain } from '../chain.ts';
import { chainBytes, readChain } from '../chain-message.ts';
import type { PluginExec, PluginRun } from '../plugin-exec.ts';
import { runProcess } from '../process.ts';

/**
 * Runs the plugins of an operation as one job, as the agent does, but as executables of this machine. What the job gives
 * to a plugin must be what the operation itself would have given it.
 */
export function chainExec(otherwise: PluginExec): PluginExec {
  return {
    find: otherwise.find,
    run: otherwise.run,
    async ahead(chain) {
      const { plugins, ...how } = readChain(chainBytes(chain));
      const given: PluginRun[] = [];
      const env = chain.runs[0]?.env ?? {};
      const runs = plugins.map((plugin) => ({ ...plugin, env }));
      const outcomes = await runChain({ runs, ...how, signal: chain.signal }, async (run) => {
        given.push(run);
        const { exitCode, ...said } = await runProcess({ ...run, signal: chain.signal });
        return { ...said, exitCode: exitCode ?? 128 };
      }).catch(() => undefined);
      // What cannot be started has an error of its own, which only the ordinary way makes.
      if (outcomes === undefined) return otherwise;
      const exec = outcomesAsExec(outcomes, otherwise);
      return {
        find: exec.find,
        async run(run) {
          const same = given.shift();
          if (same !== undefined) assert.deepEqual({ ...same, signal: run.signal }, run);
          return await exec.run(run);
        },
      };
    },
  };
}
