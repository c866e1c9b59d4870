/** One call of one plugin, on this machine. */
import { dirname, join } from 'node:path';
import { type Plugin, type PluginOutcome, serve } from '@heddle/cni/plugin';
import { AttachmentTurns, DelQueue, systemPluginHost } from '@heddle/cni/runtime';
import { CATALOGUE } from '@heddle/plugins/catalogue';
import { readToEnd, writeBestEffort } from './descriptors.ts';

/** Serves the call that the process was started for. */
export async function serveOnce(plugin: Plugin): Promise<PluginOutcome> {
  const host = systemPluginHost({
    mode: 'sync',
    leaveDeletions: TAKING_DOWN.includes(process.env['CNI_COMMAND'] ?? ''),
    // The agent's client, where that is installed, stands for the same code.
    own: {
      get executables() {
        const program = process.execPath;
        return [program, join(dirname(program), 'heddle-shim')];
      },
      plugins: { get: (type) => CATALOGUE.get(type)?.load() },
    },
    turns: new AttachmentTurns({ queue: new DelQueue() }),
    onStderr: (text) => writeBestEffort(2, text),
  });
  return await serve(plugin, { env: process.env, readStdin: () => readToEnd(0) }, host);
}

const TAKING_DOWN: readonly string[] = ['DEL', 'GC'];
