/**
 * Plugins as code in this process, for programs that carry them: no executable is needed, none is started.
 * The plugins cannot tell the difference, and their failures read the same.
 */
import type { PluginInvocation, PluginOutcome } from '../plugin/index.ts';
import type { PluginExec } from './plugin-exec.ts';
import { failedPlugin, unstartedPlugin } from './plugin-failure.ts';

/** The plugins that a program carries. */
export interface InProcessPlugins {
  has(type: string): boolean;
  /** Runs one; see `serve` of the plugin SDK. */
  serve(type: string, invocation: PluginInvocation): Promise<PluginOutcome>;
}

/**
 * Runs the plugins of a table in this process, and those that it does not have as `otherwise` does. An abort
 * cannot end code that already runs here; it is obeyed before the next plugin.
 *
 * @example
 * const exec = inProcessExec({ has: (type) => table.has(type), serve: (type, call) => … }, systemExec());
 */
export function inProcessExec(plugins: InProcessPlugins, otherwise: PluginExec): PluginExec {
  return {
    find: (type, path) => (plugins.has(type) ? `${IN_PROCESS}${type}` : otherwise.find(type, path)),
    async run(run) {
      if (run.path !== `${IN_PROCESS}${run.type}`) return await otherwise.run(run);
      if (run.signal?.aborted) throw unstartedPlugin(run, run.signal.reason);
      const { type, env, stdin } = run;
      const bytes = typeof stdin === 'string' ? new TextEncoder().encode(stdin) : stdin;
      const outcome = await plugins.serve(type, { env, readStdin: () => bytes });
      if (outcome.exitCode !== 0) throw failedPlugin(run, outcome);
      return outcome;
    },
  };
}

const IN_PROCESS = 'in-process:';
