/**
 * The plugins as one program: the name it is called by chooses the plugin, as with busybox. It starts, does
 * one thing synchronously, and ends; but for the daemon of dhcp.
 */
import { basename } from 'node:path';
import { versionJson } from '@heddle/cni/plugin';
import { CATALOGUE } from '@heddle/plugins/catalogue';
import { readQuestion, writeBestEffort } from './descriptors.ts';
import { end } from './end.ts';

/** Serves what the process was started for, and ends it. */
export async function main(): Promise<never> {
  const name = basename(process.argv0);
  const plugin = CATALOGUE.get(name);
  if (name === 'dhcp' && process.argv[2] === 'daemon') {
    const { keepLeases } = await import('./keep-leases.ts');
    return await keepLeases(process.argv.slice(3));
  }
  if (plugin === undefined) {
    writeBestEffort(2, `${name}: this program holds the CNI plugins ${[...CATALOGUE.keys()].join(', ')};\n`);
    writeBestEffort(2, 'call it by one of these names: heddle install --dir /opt/cni/bin makes the links\n');
    process.exit(2);
  }
  if (process.env['CNI_COMMAND'] === 'VERSION') {
    return end({ exitCode: 0, stdout: `${versionJson(plugin, readQuestion(0))}\n`, stderr: '' });
  }
  const { serveOnce } = await import('./serve-once.ts');
  return end(await serveOnce(await plugin.load()));
}
