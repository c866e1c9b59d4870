/** Where in its file the part of a network is that a plugin refuses. Plugins get their part without the file. */
import {
  CNI_CODE,
  CniError,
  ConfigError,
  decodeConfig,
  isJsonObject,
  type JsonPath,
  type JsonValue,
  locate,
  type NetworkConfigList,
  type PluginConfig,
  PluginError,
} from '@heddle/cni';
import { PLUGINS } from '@heddle/plugins';
import { pathOf, sourceOf } from './source.ts';

/** Runs plugins of a network; when one refuses its configuration, the error begins with file, line and column. */
export async function withPlaces<T>(list: NetworkConfigList, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw placed(list, error);
  }
}

function placed(list: NetworkConfigList, error: unknown): unknown {
  const refused = pluginErrorIn(error);
  if (!(error instanceof CniError) || refused?.cniCode !== CNI_CODE.INVALID_CONFIG) return error;
  const index = list.plugins.findIndex(({ type }) => type === refused.plugin);
  const plugin = list.plugins[index];
  const source = sourceOf(list, index);
  if (plugin === undefined || source === undefined) return error;
  const { msg, cniDetails } = error;
  return new ConfigError(msg, {
    ...{ file: source.file, cause: error },
    ...locate(source.text, [...source.path, ...refusedPart(plugin, refused.message)]),
    ...(cniDetails !== undefined && { cniDetails }),
  });
}

function pluginErrorIn(error: unknown): PluginError | undefined {
  if (error instanceof PluginError) return error;
  return error instanceof Error && error.cause !== undefined ? pluginErrorIn(error.cause) : undefined;
}

/** The part that the plugin's schema refuses in the same words; else the member that the message names first. */
function refusedPart({ type, ipamType = '', raw }: PluginConfig, message: string): JsonPath {
  for (const config of [type, ipamType].map((each) => PLUGINS.get(each)?.config)) {
    try {
      if (config !== undefined) decodeConfig(config, raw);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (message.includes(error.reason)) return pathOf(error.pointer);
    }
  }
  const named = membersIn(raw)
    .map((path) => ({ path, at: mention(message, String(path.at(-1))) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at);
  return named[0]?.path ?? [];
}

function membersIn(value: JsonValue, path: JsonPath = []): readonly JsonPath[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => membersIn(item, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const here = [...path, key];
    return [...(PLAIN_WORDS.includes(key) ? [] : [here]), ...membersIn(member, here)];
  });
}

/** Members whose names are words that any message may hold. */
const PLAIN_WORDS: readonly string[] = ['type', 'name', 'bridge'];

function mention(message: string, word: string): number {
  return /^\w+$/.test(word) ? message.search(new RegExp(`\\b${word}\\b`, 'i')) : -1;
}
