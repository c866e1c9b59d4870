/** A plugin directory as an installation makes it: the multi-call program under its plugins' names. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PLUGINS } from '@heddle/plugins';
import { buildStandalone } from '../../scripts/build-standalone.ts';

/** Fills `directory` with our plugins, and returns it. */
export function installPlugins(directory: string): string {
  const program = resolve(buildStandalone(), 'heddle-cni');
  mkdirSync(directory, { recursive: true });
  for (const type of PLUGINS.keys()) symlinkSync(program, join(directory, type));
  return directory;
}
