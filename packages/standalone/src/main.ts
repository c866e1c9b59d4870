/**
 * The plugins as one program: the name it is called by chooses the plugin, as with busybox. It starts, does
 * one thing synchronously, and ends; but for the daemon of dhcp.
 */
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { type Plugin, serve } from '@heddle/cni/plugin';
import { AttachmentTurns, DelQueue, systemPluginHost } from '@heddle/cni/runtime';
import { PLUGINS } from '@heddle/plugins';
import { readToEnd, writeBestEffort, writeWhole } from './descriptors.ts';

const name = basename(process.argv0);
const plugin = PLUGINS.get(name);

if (name === 'dhcp' && process.argv[2] === 'daemon') {
  void keepLeases(process.argv.slice(3));
} else if (plugin !== undefined) {
  // No top-level await: the bytecode that makes the start short is that of a CommonJS module.
  void run(plugin);
} else {
  writeBestEffort(2, `${name}: this program holds the CNI plugins ${[...PLUGINS.keys()].join(', ')};\n`);
  writeBestEffort(2, 'call it by one of these names: heddle install --dir /opt/cni/bin makes the links\n');
  process.exit(2);
}

/** The one that stays: `dhcp daemon`, as the units of the reference start it. */
async function keepLeases(args: readonly string[]): Promise<void> {
  const { runDaemon } = await import('@heddle/dhcp/daemon');
  const exitCode = await runDaemon(args, {
    env: process.env,
    pid: process.pid,
    stderr: (text) => writeBestEffort(2, text),
    random: () => randomBytes(4).readUInt32BE() / 2 ** 32,
    onStop: (stop) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
    },
  });
  process.exit(exitCode);
}

async function run(chosen: Plugin): Promise<void> {
  const host = systemPluginHost({
    mode: 'sync',
    // The agent's client, where that is installed, stands for the same code.
    own: {
      executables: [process.execPath, join(dirname(process.execPath), 'heddle-shim')],
      plugins: PLUGINS,
    },
    turns: new AttachmentTurns({ queue: new DelQueue() }),
    onStderr: (text) => writeBestEffort(2, text),
  });
  const input = { env: process.env, readStdin: () => readToEnd(0) };
  const { exitCode, stdout, stderr } = await serve(chosen, input, host);
  writeBestEffort(2, stderr);
  process.exit(answered(stdout) ? exitCode : 1);
}

/** False when the answer cannot be printed: the caller must not take its absence for one. */
function answered(stdout: string): boolean {
  try {
    writeWhole(1, stdout);
    return true;
  } catch (error) {
    writeBestEffort(2, `${name}: cannot print the answer: ${String(error)}\n`);
    return false;
  }
}
