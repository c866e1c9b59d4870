/** Which file of a directory a runtime takes, and what becomes of each of the others. */
import { join } from 'node:path';
import {
  CNI_CODE,
  CniError,
  type ConfigFile,
  isConfigPath,
  isListPath,
  listNetworks,
  type NetworkConfigList,
  type SelectOptions,
} from '@heddle/cni';
import type { ReadFiles } from '../audit/model/ports.ts';
import type { RuntimeProfile } from './runtimes.ts';

/** What becomes of a file. */
export type Fate = 'chosen' | 'by name' | 'shadowed' | 'not reached' | 'passed over' | 'ends the search';

/** A file of the directory, seen by a runtime. */
export interface Candidate {
  readonly path: string;
  readonly name: string;
  /** The network in it; nothing when it cannot be used. */
  readonly list?: NetworkConfigList;
  readonly fate: Fate;
  /** Why, as a sentence fragment. */
  readonly reason: string;
}

/** What a runtime makes of a directory. */
export interface Choice {
  /** The configurations, in the order of their names. */
  readonly candidates: readonly Candidate[];
  readonly chosen?: Candidate;
  /** There is no such directory. */
  readonly isDirectoryMissing?: true;
}

interface Loaded {
  readonly path: string;
  readonly name: string;
  readonly list?: NetworkConfigList;
  readonly problem?: string;
}

/**
 * What a runtime takes of a directory.
 *
 * @param network the network that is asked for; runtimes that take the first file do not listen
 * @throws {CniError} when the directory cannot be read
 */
export function choose(
  files: ReadFiles,
  directory: string,
  profile: RuntimeProfile,
  network: string | undefined,
): Choice {
  const loaded = load(files, directory);
  const wanted = network ?? profile.usualNetwork;
  const candidates =
    profile.choosing === 'first' || profile.choosing === 'first usable'
      ? takeFirst(loaded, profile)
      : takeByName(loaded, profile, wanted);
  const chosen = candidates.find(({ fate }) => fate === 'chosen');
  return {
    candidates,
    ...(chosen !== undefined && { chosen }),
    ...(files.list(directory) === undefined && { isDirectoryMissing: true }),
  };
}

function takeFirst(loaded: readonly Loaded[], { choosing, title }: RuntimeProfile): readonly Candidate[] {
  let winner: Loaded | undefined;
  let stopper: Loaded | undefined;
  return loaded.map((file): Candidate => {
    if (stopper !== undefined) {
      return { ...about(file), fate: 'not reached', reason: `the search ends at ${stopper.name}` };
    }
    if (winner !== undefined) {
      const reason = `${winner.name} comes before it`;
      return { ...about(file), fate: 'not reached', reason: withProblem(reason, file) };
    }
    if (file.list === undefined) {
      if (choosing === 'first') stopper = file;
      const fate = choosing === 'first' ? 'ends the search' : 'passed over';
      return { ...about(file), fate, reason: file.problem ?? '' };
    }
    winner = file;
    const reason = 'the first by file name';
    return { ...about(file), fate: 'chosen', reason: stoppedNothing(loaded, file, reason, title) };
  });
}

function stoppedNothing(loaded: readonly Loaded[], file: Loaded, reason: string, title: string): string {
  const before = loaded.indexOf(file);
  return before === 0 ? reason : `${reason} that ${title} can use`;
}

function takeByName(
  loaded: readonly Loaded[],
  { choosing, title }: RuntimeProfile,
  wanted: string | undefined,
): readonly Candidate[] {
  const listsOnly = choosing === 'by name, lists only';
  // Lists come before single plugins; in each kind the first by name is in force.
  const counted = [
    ...loaded.filter(({ path }) => isListPath(path)),
    ...(listsOnly ? [] : loaded.filter(({ path }) => !isListPath(path))),
  ];
  const winners = new Map<string, Loaded>();
  for (const file of counted) {
    if (file.list !== undefined && !winners.has(file.list.name)) winners.set(file.list.name, file);
  }
  const chosen =
    wanted === undefined
      ? loaded.find((file) => file.list !== undefined && winners.get(file.list.name) === file)
      : winners.get(wanted);
  return loaded.map((file): Candidate => {
    if (listsOnly && !isListPath(file.path)) {
      return { ...about(file), fate: 'passed over', reason: `${title} reads only *.conflist` };
    }
    if (file.list === undefined) {
      return { ...about(file), fate: 'passed over', reason: file.problem ?? '' };
    }
    const winner = winners.get(file.list.name);
    if (winner !== file) {
      return { ...about(file), fate: 'shadowed', reason: `${winner?.name} has the same network name` };
    }
    if (file !== chosen) return { ...about(file), fate: 'by name', reason: 'another network' };
    const reason = wanted === undefined ? 'the first by file name' : `it has the network "${wanted}"`;
    return { ...about(file), fate: 'chosen', reason };
  });
}

function about({ path, name, list }: Loaded): Pick<Candidate, 'path' | 'name' | 'list'> {
  return { path, name, ...(list !== undefined && { list }) };
}

function withProblem(reason: string, { problem }: Loaded): string {
  return problem === undefined ? reason : `${reason}; it could not be used either: ${problem}`;
}

function load(files: ReadFiles, directory: string): readonly Loaded[] {
  const siblings: SelectOptions['siblings'] = (list, network) =>
    configsIn(files, join(list, '..', network)).map(({ file }) => file);
  return configsIn(files, directory)
    .filter(({ file }) => isConfigPath(file.path))
    .map(({ file, name }): Loaded => {
      const { networks, broken } = listNetworks([file], { siblings, directory });
      const list = networks[0]?.list;
      if (list === undefined) return { path: file.path, name, problem: wordsOf(broken[0]?.error, file.path) };
      if (list.plugins.length === 0) return { path: file.path, name, problem: 'it has no plugins' };
      return { path: file.path, name, list };
    });
}

function configsIn(
  files: ReadFiles,
  directory: string,
): readonly { readonly file: ConfigFile; readonly name: string }[] {
  const entries = files.list(directory);
  if (typeof entries === 'string') {
    throw new CniError(CNI_CODE.IO_FAILURE, `read ${directory}: ${entries}`, { code: 'FILE_FAILED' });
  }
  return (entries ?? [])
    .filter(({ kind }) => kind !== 'directory')
    .map(({ name }) => ({
      name,
      file: { path: join(directory, name), read: () => read(files, join(directory, name)) },
    }))
    .toSorted((a, b) => Buffer.compare(Buffer.from(a.file.path), Buffer.from(b.file.path)));
}

function read(files: ReadFiles, path: string): Uint8Array {
  const content = files.read(path);
  if (content instanceof Uint8Array) return content;
  throw Object.assign(new Error(content === 'gone' ? 'it is gone' : content), {
    code: content === 'gone' ? 'ENOENT' : 'EIO',
  });
}

/** The file's path need not be said again. */
function wordsOf(error: unknown, path: string): string {
  const text = error instanceof Error ? error.message : 'it is gone';
  return text.replaceAll(`${path}:`, '').replaceAll(path, 'it').trim();
}
