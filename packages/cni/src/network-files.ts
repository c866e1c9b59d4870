/**
 * Finding a network among configuration files. Lists (`*.conflist`) come before single configurations
 * (`*.conf`, `*.json`), each in the byte order of their paths; the first with the wanted name is in force.
 *
 * Better manners than the reference's: a broken file is an error only when it is the one that was asked for.
 * Reading is handed in, so nothing here touches a disk.
 */
import { HeddleError } from '@heddle/errors';
import { CNI_CODE } from './codes.ts';
import { CniError } from './errors.ts';
import { compareUtf8 } from './go-json.ts';
import { parseJson } from './json.ts';
import { isJsonObject } from './json-value.ts';
import { type NetworkConfigList, parseNetworkList, upconvert } from './network-list.ts';
import { type PluginConfig, parsePluginConfig } from './plugin-config.ts';
import { closest } from './spelling.ts';

/** A configuration file that can be read. */
export interface ConfigFile {
  /** The full path: decides order and kind. */
  readonly path: string;
  /** The content. A file that is gone is told by an error with the code or errno `ENOENT`, or `NOT_FOUND`. */
  read(): Uint8Array;
}

/** A file that could not be used. */
export interface BrokenFile {
  readonly path: string;
  readonly error: unknown;
}

/** How to look for networks. */
export interface SelectOptions {
  /**
   * The files of the folder that is named for the network, beside a list's file. Only those that end in
   * `.conf` count. Without it no such folder is looked at.
   */
  readonly siblings?: (listPath: string, network: string) => readonly ConfigFile[];
  /** The directory, for messages. */
  readonly directory?: string;
}

/** The network that was found. */
export interface SelectedNetwork {
  readonly list: NetworkConfigList;
  readonly path: string;
  /** Files that had to be passed over. */
  readonly broken: readonly BrokenFile[];
  /** Files further on that have the same network name, and so no effect. */
  readonly shadowed: readonly string[];
}

/** What a set of files holds. */
export interface ListedNetworks {
  /** The networks in force, by precedence. */
  readonly networks: readonly { readonly list: NetworkConfigList; readonly path: string }[];
  readonly broken: readonly BrokenFile[];
  /** Names that several files have; the first path is in force. */
  readonly duplicates: readonly { readonly name: string; readonly paths: readonly string[] }[];
}

/** The network is not there. `broken` holds the files that could not be read; it may be in one of them. */
export class NetworkNotFoundError extends CniError {
  readonly network: string;
  readonly broken: readonly BrokenFile[];

  /** @param known the names of the networks that there are, for the hint */
  constructor(msg: string, network: string, broken: readonly BrokenFile[], known: readonly string[] = []) {
    const passedOver = broken.map(({ error }) => (error instanceof Error ? error.message : String(error)));
    super(CNI_CODE.NOT_FOUND, msg, {
      code: 'NETWORK_NOT_FOUND',
      ...(passedOver.length > 0 && { cniDetails: `not looked into: ${passedOver.join('; ')}` }),
      ...(known.length > 0 && { hint: knownHint(network, known) }),
      cause: broken[0]?.error,
    });
    this.network = network;
    this.broken = broken;
  }
}

/**
 * The network with a name. Files are read one after the other until it is found.
 *
 * @throws {NetworkNotFoundError} when no readable file has it.
 * @throws {ConfigError} when the first file that names it is not valid: a later one must not take its place.
 */
export function selectNetwork(
  files: readonly ConfigFile[],
  name: string,
  options: SelectOptions = {},
): SelectedNetwork {
  const ordered = inOrder(files);
  const broken: BrokenFile[] = [];
  const others = new Set<string>();
  for (const [index, file] of ordered.entries()) {
    const loaded = load(file, options);
    if (loaded === undefined) continue;
    if ('error' in loaded) {
      if (loaded.name === name) throw loaded.error;
      broken.push({ path: file.path, error: loaded.error });
    } else if (loaded.list.name === name) {
      const shadowed = ordered.slice(index + 1).filter((later) => peekName(later) === name);
      return { list: loaded.list, path: file.path, broken, shadowed: shadowed.map(({ path }) => path) };
    } else others.add(loaded.list.name);
  }
  const where = options.directory === undefined ? '' : ` in ${options.directory}`;
  const msg =
    files.length === 0
      ? `no net configurations found${where}`
      : `no net configuration with name "${name}"${where}`;
  throw new NetworkNotFoundError(msg, name, broken, [...others]);
}

/** All networks of a set of files, with what is wrong among them. Never throws for a file. */
export function listNetworks(files: readonly ConfigFile[], options: SelectOptions = {}): ListedNetworks {
  const broken: BrokenFile[] = [];
  const byName = new Map<string, { list: NetworkConfigList; path: string }[]>();
  for (const file of inOrder(files)) {
    const loaded = load(file, options);
    if (loaded === undefined) continue;
    if ('error' in loaded) broken.push({ path: file.path, error: loaded.error });
    else
      byName.set(loaded.list.name, [
        ...(byName.get(loaded.list.name) ?? []),
        { list: loaded.list, path: file.path },
      ]);
  }
  const groups = [...byName.entries()];
  return {
    networks: groups.flatMap(([, [first]]) => (first === undefined ? [] : [first])),
    broken,
    duplicates: groups
      .filter(([, same]) => same.length > 1)
      .map(([name, same]) => ({ name, paths: same.map(({ path }) => path) })),
  };
}

/** True for the names of files that hold network configurations. Letter case matters. */
export function isConfigPath(path: string): boolean {
  return isListPath(path) || SINGLE.test(path);
}

/** True for the name of a file that holds a list. */
export function isListPath(path: string): boolean {
  return LIST.test(path);
}

const LIST = /\.conflist$/;
const SINGLE = /\.(conf|json)$/;
const SIBLING = /\.conf$/;

/** Which network was perhaps meant, and which there are. */
function knownHint(name: string, known: readonly string[]): string {
  const suggestion = closest(name, known);
  const more = known.length > TOLD ? `, and ${known.length - TOLD} more` : '';
  const all = `there are: ${known.slice(0, TOLD).join(', ')}${more}`;
  return suggestion === undefined ? all : `did you mean "${suggestion}"? ${all}`;
}

const TOLD = 10;

function inOrder(files: readonly ConfigFile[]): readonly ConfigFile[] {
  const sorted = files.toSorted((a, b) => compareUtf8(a.path, b.path));
  return [...sorted.filter(({ path }) => LIST.test(path)), ...sorted.filter(({ path }) => SINGLE.test(path))];
}

type Loaded =
  | { readonly list: NetworkConfigList }
  /** The name is known when the file is JSON at least. */
  | { readonly error: unknown; readonly name?: string | undefined };

/** `undefined` for a file that is gone: between listing and reading, somebody removed it. */
function load(file: ConfigFile, options: SelectOptions): Loaded | undefined {
  try {
    const bytes = file.read();
    try {
      return { list: parse(file, bytes, options) };
    } catch (error) {
      return { error, name: nameIn(bytes) };
    }
  } catch (error) {
    return isGone(error) ? undefined : { error };
  }
}

function parse({ path }: ConfigFile, bytes: Uint8Array, { siblings }: SelectOptions): NetworkConfigList {
  if (!isListPath(path)) return upconvert(parsePluginConfig(bytes, { file: path }), { file: path });
  return parseNetworkList(bytes, {
    file: path,
    siblings: (network) => (siblings === undefined ? [] : readSiblings(siblings(path, network))),
  });
}

function readSiblings(files: readonly ConfigFile[]): readonly PluginConfig[] {
  const confs = files
    .filter(({ path }) => SIBLING.test(path))
    .toSorted((a, b) => compareUtf8(a.path, b.path));
  return confs.flatMap((file) => {
    try {
      return [parsePluginConfig(file.read(), { file: file.path })];
    } catch (error) {
      if (isGone(error)) return [];
      throw error;
    }
  });
}

function peekName(file: ConfigFile): string | undefined {
  try {
    return nameIn(file.read());
  } catch {
    return undefined;
  }
}

function nameIn(bytes: Uint8Array): string | undefined {
  try {
    const value = parseJson(bytes);
    const name = isJsonObject(value) ? value['name'] : undefined;
    return typeof name === 'string' ? name : undefined;
  } catch (error) {
    if (error instanceof HeddleError) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  return code === 'ENOENT' || errno === 'ENOENT' || code === 'NOT_FOUND';
}
