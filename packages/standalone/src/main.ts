/**
 * The plugins as one program: the name it is called by chooses the plugin, as with busybox. It starts, does
 * one thing synchronously, and ends.
 */
import { basename } from 'node:path';
import { type Plugin, serve } from '@heddle/cni/plugin';
import { systemPluginHost } from '@heddle/cni/runtime';
import { PLUGINS } from '@heddle/plugins';
import { readToEnd, writeWhole } from './descriptors.ts';

const name = basename(process.argv0);
const plugin = PLUGINS.get(name);

if (plugin !== undefined) {
  // No top-level await: the bytecode that makes the start short is that of a CommonJS module.
  void run(plugin);
} else {
  writeWhole(2, `${name}: this program holds the CNI plugins ${[...PLUGINS.keys()].join(', ')};\n`);
  writeWhole(2, 'call it by one of these names: heddle install --dir /opt/cni/bin makes the links\n');
  process.exit(2);
}

async function run(chosen: Plugin): Promise<void> {
  const host = systemPluginHost({
    mode: 'sync',
    own: { executable: process.execPath, plugins: PLUGINS },
    onStderr: (text) => writeWhole(2, text),
  });
  const input = { env: process.env, readStdin: () => readToEnd(0) };
  const { exitCode, stdout, stderr } = await serve(chosen, input, host);
  writeWhole(2, stderr);
  writeWhole(1, stdout);
  process.exit(exitCode);
}
