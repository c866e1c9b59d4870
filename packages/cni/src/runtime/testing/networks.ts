/** Networks for tests. */
import {
  type JsonObject,
  type NetworkConfigList,
  type PluginConfig,
  parseNetworkList,
  parsePluginConfig,
} from '../../index.ts';

/** A list of plugins by type, or by their objects. */
export function network(plugins: readonly (string | JsonObject)[], more: JsonObject = {}): NetworkConfigList {
  const body = {
    cniVersion: '1.1.0',
    name: 'net',
    plugins: plugins.map((plugin) => (typeof plugin === 'string' ? { type: plugin } : plugin)),
    ...more,
  };
  return parseNetworkList(bytesOf(body));
}

/** A single plugin's configuration. */
export function single(conf: JsonObject): PluginConfig {
  return parsePluginConfig(bytesOf({ cniVersion: '1.1.0', name: 'net', ...conf }));
}

/** The JSON text of a value, as bytes. */
export function bytesOf(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** A container to attach. */
export const POD = { containerID: 'c1', netns: '/run/netns/c1', ifName: 'eth0' } as const;
