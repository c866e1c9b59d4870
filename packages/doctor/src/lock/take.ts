/** Takes the lock of a node as it is. */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { isConfigPath, type NetworkConfigList } from '@heddle/cni';
import type { ReadFiles } from '../audit/model/ports.ts';
import { choose } from '../explain/choice.ts';
import { PROFILES } from '../explain/runtimes.ts';
import { delegatesOf } from '../programs/delegates.ts';
import type { Programs } from '../programs/program.ts';
import type { Lock, LockedFile, LockedPlugin } from './lock.ts';
import { neededFeatures } from './needed.ts';

/** The node. */
export interface LockSources {
  /** The directory of networks. */
  readonly directory: string;
  readonly files: ReadFiles;
  readonly programs: Programs;
}

/** What cannot be pinned: a plugin that is not there, or may not be read; a file that may not be read. */
export interface Unpinned {
  readonly what: string;
  readonly why: string;
}

/** A node as it is. */
export interface Taken {
  readonly lock: Lock;
  readonly unpinned: readonly Unpinned[];
}

/**
 * Looks at every configuration of the directory, and at every plugin that one of them names. Plugins are asked for their
 * versions; nothing is changed.
 *
 * @throws {CniError} when the directory cannot be read
 */
export async function takeLock({ directory, files, programs }: LockSources): Promise<Taken> {
  const { candidates, chosen } = choose(files, directory, PROFILES.crio, undefined);
  const lists = candidates.flatMap(({ list }) => list ?? []);
  const unpinned: Unpinned[] = [];
  const locked: LockedFile[] = [];
  const names = new Map(candidates.map(({ path, list }) => [path, list?.name]));
  for (const path of configurations(files, directory, lists)) {
    const content = files.read(path);
    if (!(content instanceof Uint8Array)) {
      unpinned.push({ what: path, why: content });
      continue;
    }
    const network = names.get(path);
    locked.push({
      ...{ path: relative(directory, path), sha256: digest(content) },
      ...(network !== undefined && { network }),
    });
  }
  const plugins: LockedPlugin[] = [];
  for (const type of typesOf(lists)) {
    const { path, sha256, versions = [], problem } = await programs.inspect(type);
    if (path !== undefined && sha256 !== undefined) plugins.push({ type, path, sha256, versions });
    else unpinned.push({ what: `plugin ${type}`, why: problem ?? `${path} may not be read` });
  }
  const network = chosen?.list?.name;
  const lock: Lock = {
    ...{ lockVersion: 1, ...(network !== undefined && { network }) },
    ...{ files: locked, plugins, kernel: neededFeatures(lists) },
  };
  return { lock, unpinned };
}

/** Files of the directory, and those of the folders that are named for a network. */
function configurations(
  files: ReadFiles,
  directory: string,
  lists: readonly NetworkConfigList[],
): readonly string[] {
  const below = (folder: string, isWanted: (name: string) => boolean) => {
    const entries = files.list(folder);
    return (Array.isArray(entries) ? entries : [])
      .filter(({ name, kind }) => kind !== 'directory' && isWanted(name))
      .map(({ name }) => `${folder}/${name}`);
  };
  const folders = lists
    .filter(({ isSingle, loadOnlyInlinedPlugins }) => isSingle !== true && !loadOnlyInlinedPlugins)
    .map(({ name }) => `${directory}/${name}`);
  const root = directory.replace(/\/$/, '');
  return [
    ...below(root, isConfigPath),
    ...new Set(folders.flatMap((folder) => below(folder, (name) => name.endsWith('.conf')))),
  ];
}

function typesOf(lists: readonly NetworkConfigList[]): readonly string[] {
  const plugins = lists.flatMap(({ plugins: all }) => all);
  const types = plugins.flatMap((plugin) => [plugin.type, ...delegatesOf(plugin).map(({ type }) => type)]);
  return [...new Set(types)].toSorted();
}

function digest(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
