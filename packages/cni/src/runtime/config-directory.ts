/** Network configurations in a directory, such as /etc/cni/net.d. */
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type BrokenFile,
  ConfigError,
  type ConfigFile,
  isConfigPath,
  type ListedNetworks,
  listNetworks,
  type NetworkConfigList,
  NetworkNotFoundError,
  type SelectedNetwork,
  selectNetwork,
} from '../index.ts';
import { ioFailure, isMissing } from './io-failure.ts';

/**
 * The configuration files of a directory, not yet read; none when there is no such directory.
 *
 * @throws {CniError} when the directory cannot be read.
 */
export function readConfigDir(directory: string): readonly ConfigFile[] {
  return filesIn(directory).filter(({ path }) => isConfigPath(path));
}

/**
 * The network with a name. Broken files and files with the same name are told in the answer.
 *
 * @throws {NetworkNotFoundError} when no readable file has it.
 * @throws {ConfigError} when the file that has it is not valid.
 * @example loadNetwork('/etc/cni/net.d', 'podnet').list
 */
export function loadNetwork(directory: string, name: string): SelectedNetwork {
  return selectNetwork(readConfigDir(directory), name, { directory, siblings });
}

/** All networks of a directory, with what is wrong among its files. */
export function listConfigDir(directory: string): ListedNetworks {
  return listNetworks(readConfigDir(directory), { directory, siblings });
}

/**
 * The network that containerd and CRI-O attach pods to: the first by file name, whatever the extension, that
 * is valid and has a plugin.
 *
 * @throws {NetworkNotFoundError} when there is none.
 */
export function defaultNetwork(directory: string): SelectedNetwork {
  const files = readConfigDir(directory).toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)),
  );
  const broken: BrokenFile[] = [];
  for (const file of files) {
    const { networks, broken: bad } = listNetworks([file], { directory, siblings });
    broken.push(...bad);
    const [network] = networks;
    if (network !== undefined && network.list.plugins.length > 0) return { ...network, broken, shadowed: [] };
  }
  throw new NetworkNotFoundError(`no net configurations found in ${directory}`, '', broken);
}

/**
 * The network in a file, with the plugins from the folder beside it.
 *
 * @throws {ConfigError|DecodeError|CniError} when the file is not valid or cannot be read.
 */
export function loadNetworkFile(path: string): NetworkConfigList {
  if (!isConfigPath(path)) {
    throw new ConfigError('the name of a configuration file must end in .conflist, .conf or .json', {
      file: path,
    });
  }
  const bytes = readConfig(path, () => true);
  const { networks, broken } = listNetworks([{ path, read: () => bytes }], { siblings });
  const [network] = networks;
  if (network === undefined) throw broken[0]?.error;
  return network.list;
}

/** The folder beside a list that is named for its network: more plugins for the list's end. */
function siblings(listPath: string, network: string): readonly ConfigFile[] {
  return filesIn(join(dirname(listPath), network));
}

function filesIn(directory: string): readonly ConfigFile[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map(({ name }) => configFile(join(directory, name)));
  } catch (error) {
    if (isMissing(error)) return [];
    throw ioFailure(`error reading ${directory}`, error);
  }
}

function configFile(path: string): ConfigFile {
  // A file that is gone is told as it is: somebody removed it after the directory was listed.
  return { path, read: () => readConfig(path, (error) => !isMissing(error)) };
}

function readConfig(path: string, isFailure: (error: unknown) => boolean): Uint8Array {
  try {
    const obstacle = obstacleOf(statSync(path, { throwIfNoEntry: false }));
    if (obstacle !== undefined) throw new Error(obstacle);
    return readFileSync(path);
  } catch (error) {
    throw isFailure(error) ? ioFailure(`error reading ${path}`, error) : error;
  }
}

/** A pipe or a device would be waited for, or read, without an end. */
function obstacleOf(stats: Stats | undefined): string | undefined {
  if (stats === undefined || stats.isDirectory()) return undefined;
  if (!stats.isFile()) return 'it is no regular file';
  return stats.size > LARGEST ? `it has ${stats.size} bytes, too many for a configuration` : undefined;
}

/** Bytes. Configurations are small; what is larger was put there by mistake. */
const LARGEST = 8 << 20;
