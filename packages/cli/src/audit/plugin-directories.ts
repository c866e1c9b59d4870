/** Where runtimes of this node may find plugins: an audit does not know which of them reads a configuration. */
import { namedPluginDirectories } from '../install/other-directories.ts';
import { pluginPath } from '../request/environment.ts';
import type { Surroundings } from '../surroundings.ts';

/** CNI_PATH where that is set; else the usual directory, those that runtimes are configured for, and their defaults. */
export function pluginDirectories(surroundings: Pick<Surroundings, 'env' | 'places'>): readonly string[] {
  const { env, places } = surroundings;
  if (env['CNI_PATH']) return pluginPath(surroundings);
  const configured = namedPluginDirectories(places.runtimeConfigs).filter((path) => path.startsWith('/'));
  return [...new Set([places.pluginDir, ...configured, ...places.otherPluginDirs])];
}
