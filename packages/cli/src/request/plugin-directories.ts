/** Where runtimes of this node find plugins: neither an audit nor the doctor knows which of them reads a configuration. */
import { readdirSync } from 'node:fs';
import type { PluginReader } from '@heddle/doctor';
import { containerdPluginDirectories, namedPluginDirectories } from '../install/other-directories.ts';
import { pluginPath } from '../request/environment.ts';
import type { Surroundings } from '../surroundings.ts';

/**
 * CNI_PATH where that is set; else the usual directory and those that runtimes are configured for. Where nothing is in
 * the usual one, distributions put plugins elsewhere, and runtimes of theirs know it.
 */
export function pluginDirectories(surroundings: Pick<Surroundings, 'env' | 'places'>): readonly string[] {
  const { env, places } = surroundings;
  if (env['CNI_PATH']) return pluginPath(surroundings);
  const configured = namedPluginDirectories(places.runtimeConfigs).filter((path) => path.startsWith('/'));
  const others = isEmpty(places.pluginDir) ? places.otherPluginDirs : [];
  return [...new Set([places.pluginDir, ...configured, ...others])];
}

/** The runtimes of pods that say where they look; none where CNI_PATH does. */
export function pluginReaders({
  env,
  places,
}: Pick<Surroundings, 'env' | 'places'>): readonly PluginReader[] {
  if (env['CNI_PATH']) return [];
  return places.runtimeConfigs.flatMap((file): readonly PluginReader[] => {
    const directories = containerdPluginDirectories(file, places.pluginDir);
    return directories === undefined
      ? []
      : [{ runtime: 'containerd', directories, setting: `bin_dir in ${file}` }];
  });
}

function isEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0;
  } catch {
    return true;
  }
}
