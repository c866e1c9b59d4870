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
  const program = resolve(buildStandalone(), 'heddle-cni');
  mkdirSync(directory, { recursive: true });
  if (THROUGH_AGENT) {
    // The client looks for the program beside itself.
    symlinkSync(program, join(directory, 'heddle-cni'));
    copyFileSync(buildShim(), join(directory, 'heddle-shim'));
  }
  const entry = THROUGH_AGENT ? 'heddle-shim' : program;
  for (const type of PLUGINS.keys()) symlinkSync(entry, join(directory, type));
  return directory;
}
