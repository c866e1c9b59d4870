/**
 * A plugin directory as an installation makes it: the multi-call program, or the agent's client, under the plugins'
 * names.
 */
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PLUGINS } from '@heddle/plugins';
import { buildShim } from '../../scripts/build-shim.ts';
import { buildStandalone } from '../../scripts/build-standalone.ts';
import { THROUGH_AGENT } from './agent-lane.ts';

/** Fills `directory` with our plugins, and returns it. */
export function installPlugins(directory: string): string {
  if (THROUGH_AGENT) return installClient(directory);
  mkdirSync(directory, { recursive: true });
  const program = resolve(buildStandalone(), 'heddle-cni');
  for (const type of PLUGINS.keys()) symlinkSync(program, join(directory, type));
  return directory;
}

/** The same with the agent's client in front of the program. */
export function installClient(directory: string): string {
  mkdirSync(directory, { recursive: true });
  // The client looks for the program beside itself.
  symlinkSync(resolve(buildStandalone(), 'heddle-cni'), join(directory, 'heddle-cni'));
  copyFileSync(buildShim(), join(directory, 'heddle-shim'));
  for (const type of PLUGINS.keys()) symlinkSync('heddle-shim', join(directory, type));
  return directory;
}
