/**
 * What the runtime's operations work on: a list of plugins, or one plugin by itself. Both look alike to the
 * operations; a single plugin's errors are not wrapped, and its own bytes are cached.
 */
import {
  goJson,
  isJsonObject,
  type JsonObject,
  type NetworkConfigList,
  type PluginConfig,
  parseJson,
  parseNetworkList,
  parsePluginConfig,
} from '../index.ts';

/** A network to work on. */
export type Network = NetworkConfigList | PluginConfig;

/** A network as the operations see it. */
export interface Chain {
  readonly name: string;
  readonly cniVersion: string;
  readonly plugins: readonly PluginConfig[];
  readonly disableCheck: boolean;
  readonly disableGC: boolean;
  /** One plugin by itself, not a list of one. */
  readonly isSingle: boolean;
  /** What the cache keeps: enough to make this chain again. */
  readonly bytes: Uint8Array;
}

/** The chain of a network. */
export function chainOf(network: Network): Chain {
  if (!('plugins' in network)) {
    const { name = '', cniVersion = '', bytes } = network;
    const plugins = [network];
    return { name, cniVersion, plugins, disableCheck: false, disableGC: false, isSingle: true, bytes };
  }
  const { name, cniVersion, plugins, disableCheck, disableGC } = network;
  return {
    name,
    cniVersion,
    plugins,
    disableCheck,
    disableGC,
    isSingle: false,
    bytes: completeBytes(network),
  };
}

/**
 * The network that a cache entry was made with.
 *
 * @throws {DecodeError|ConfigError} when its bytes are no configuration.
 */
export function networkFromBytes(bytes: Uint8Array): Network {
  const json = parseJson(bytes, { what: 'read the cached configuration' });
  return isJsonObject(json) && 'plugins' in json ? parseNetworkList(bytes) : parsePluginConfig(bytes);
}

/**
 * The bytes of a list with all its plugins. Those that came from the folder beside its file are not in the
 * file's own bytes, and the folder may be another by the time of DEL.
 */
function completeBytes({ bytes, plugins, file, loadOnlyInlinedPlugins }: NetworkConfigList): Uint8Array {
  if (file === undefined || loadOnlyInlinedPlugins) return bytes;
  const list = parseJson(bytes) as JsonObject;
  const inlined = list['plugins'];
  if (Array.isArray(inlined) && inlined.length === plugins.length) return bytes;
  const complete = { ...list, loadOnlyInlinedPlugins: true, plugins: plugins.map(({ raw }) => raw) };
  return new TextEncoder().encode(goJson(complete));
}
