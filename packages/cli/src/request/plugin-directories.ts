/** Where plugins are looked for: as the runtimes of this node do, unless CNI_PATH says where. */
import { readdirSync } from 'node:fs';
import { type PluginReader, PROFILES, type Viewpoint } from '@heddle/doctor';
import type { Surroundings } from '../surroundings.ts';
import {
  containerdDirectories,
  crioDirectories,
  namedPluginDirectories,
  podmanDirectories,
} from './runtime-configs.ts';

type Source = Pick<Surroundings, 'env' | 'places'>;

/**
 * CNI_PATH where that is set; else the usual directory and those that runtimes are configured for. Where nothing is in
 * the usual one, distributions put plugins elsewhere, and runtimes of theirs know it.
 */
export function pluginDirectories({ env, places }: Source): readonly string[] {
  const told = toldDirectories(env);
  if (told !== undefined) return told;
  const configured = namedPluginDirectories(places.runtimeConfigs).filter((path) => path.startsWith('/'));
  const others = isEmpty(places.pluginDir) ? places.otherPluginDirs : [];
  return [...new Set([places.pluginDir, ...configured, ...others])];
}

/** The same from the point of view of one runtime: it knows its own directories only. */
export function directoriesOf(source: Source, viewpoint: Viewpoint): readonly string[] {
  const { env, places } = source;
  const told = toldDirectories(env);
  if (told !== undefined) return told;
  switch (viewpoint) {
    case 'heddle':
      return pluginDirectories(source);
    case 'podman':
      return podmanDirectories(places.runtimeConfigs)?.directories ?? PROFILES.podman.path;
    case 'crio':
      return crioDirectories(places.runtimeConfigs, places.pluginDir)?.directories ?? [places.pluginDir];
    case 'containerd':
    case 'kubelet':
      return (
        containerdDirectories(places.runtimeConfigs, places.pluginDir)?.directories ?? [places.pluginDir]
      );
  }
}

/** The runtimes of pods that say where they look; none where CNI_PATH does. */
export function pluginReaders({ env, places }: Source): readonly PluginReader[] {
  if (toldDirectories(env) !== undefined) return [];
  const { runtimeConfigs, pluginDir } = places;
  const containerd = containerdDirectories(runtimeConfigs, pluginDir);
  const crio = crioDirectories(runtimeConfigs, pluginDir);
  return [
    ...(containerd === undefined ? [] : [{ runtime: PROFILES.containerd.title, ...containerd }]),
    ...(crio === undefined ? [] : [{ runtime: PROFILES.crio.title, ...crio }]),
  ];
}

/** CNI_PATH; an empty one is none. */
function toldDirectories(env: Source['env']): readonly string[] | undefined {
  return env['CNI_PATH'] ? env['CNI_PATH'].split(':').filter((directory) => directory !== '') : undefined;
}

function isEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0;
  } catch {
    return true;
  }
}
