/**
 * The configuration of a network: a list of plugins that run one after the other.
 *
 * The keys of the list itself are matched in their exact letter case, unlike everything else in
 * configurations; the reference reads them from a generic map.
 */
import { validateNetworkName } from './attachment.ts';
import { ConfigError, DecodeError } from './errors.ts';
import { goJson } from './go-json.ts';
import { describe } from './issue-words.ts';
import { decodeText, parseJson } from './json.ts';
import { locate } from './json-syntax.ts';
import { isJsonObject, type JsonObject, type JsonPath, type JsonValue, jsonPointer } from './json-value.ts';
import type { UnknownKey } from './members.ts';
import { type PluginConfig, pluginConfigOf } from './plugin-config.ts';
import { closest } from './spelling.ts';
import { negotiate } from './versions.ts';

/** The configuration of a network. */
export interface NetworkConfigList {
  readonly name: string;
  /** The version in force, after negotiation; empty when the list names none. */
  readonly cniVersion: string;
  readonly disableCheck: boolean;
  readonly disableGC: boolean;
  readonly loadOnlyInlinedPlugins: boolean;
  readonly plugins: readonly PluginConfig[];
  /** The text as it was read; the result cache keeps it. */
  readonly bytes: Uint8Array;
  readonly file?: string;
  /** The list was made from a single plugin's configuration. */
  readonly isSingle?: boolean;
}

/** Where plugins come from that are not in the list itself. */
export type Siblings = readonly PluginConfig[] | ((network: string) => readonly PluginConfig[]);

/** How to read a list. */
export interface ParseListOptions {
  readonly file?: string;
  /**
   * The plugins of the folder that is named for the network, beside the list's file; a function is called
   * with the network's name once that is known to be safe in a path. Give it when loading from a file: a
   * list without any plugin is then an error. Not asked when the list loads only its inlined plugins.
   */
  readonly siblings?: Siblings;
}

/** How errors of a list begin. */
const PARSING_LIST = 'error parsing configuration list';

/**
 * Reads the text of a network configuration list (a `.conflist` file).
 *
 * @throws {DecodeError} when it is no JSON.
 * @throws {ConfigError} when a key is missing or not valid; says where, and what was expected.
 */
export function parseNetworkList(bytes: Uint8Array, options: ParseListOptions = {}): NetworkConfigList {
  const reader = new ListReader(bytes, options.file);
  const name = reader.name();
  const loadOnlyInlinedPlugins = reader.flag('loadOnlyInlinedPlugins');
  const inlined = reader.plugins(loadOnlyInlinedPlugins);
  const list: NetworkConfigList = {
    name,
    cniVersion: reader.version(),
    disableCheck: reader.flag('disableCheck'),
    disableGC: reader.flag('disableGC'),
    loadOnlyInlinedPlugins,
    plugins: inlined,
    bytes,
    ...(options.file !== undefined && { file: options.file }),
  };
  return options.siblings === undefined ? list : withSiblings(list, options.siblings);
}

/**
 * The list of one: a network of a single plugin. Its `bytes` are generated, as the reference generates them.
 *
 * @throws {DecodeError} when the configuration's `cniVersion` is not valid.
 */
export function upconvert(conf: PluginConfig, options: { readonly file?: string } = {}): NetworkConfigList {
  const body = { name: conf.name ?? '', cniVersion: conf.cniVersion ?? '', plugins: [conf.raw] };
  const list = parseNetworkList(new TextEncoder().encode(goJson(body)));
  return { ...list, ...(options.file !== undefined && { file: options.file }), isSingle: true };
}

/**
 * The keys of a list that have no meaning, with the one that was perhaps meant.
 *
 * @example unknownListKeys({ Plugins: [] }) // [{ pointer: '', key: 'Plugins', suggestion: 'plugins' }]
 */
export function unknownListKeys(list: JsonObject): readonly UnknownKey[] {
  return Object.keys(list)
    .filter((key) => !LIST_KEYS.includes(key))
    .map((key) => {
      const suggestion = closest(key, LIST_KEYS);
      return { pointer: '', key, ...(suggestion !== undefined && { suggestion }) };
    });
}

const LIST_KEYS: readonly string[] = [
  'name',
  'cniVersion',
  'cniVersions',
  'disableCheck',
  'disableGC',
  'loadOnlyInlinedPlugins',
  'plugins',
];

function withSiblings(list: NetworkConfigList, siblings: Siblings): NetworkConfigList {
  const plugins = list.loadOnlyInlinedPlugins
    ? list.plugins
    : [...list.plugins, ...siblingsOf(list.name, siblings)];
  if (plugins.length > 0) return { ...list, plugins };
  throw new ConfigError('no plugin configs found', { ...(list.file !== undefined && { file: list.file }) });
}

function siblingsOf(name: string, siblings: Siblings): readonly PluginConfig[] {
  if (typeof siblings !== 'function') return siblings;
  // The name becomes part of a path, and `../x` must not.
  validateNetworkName(name);
  return siblings(name);
}

/** Reads the members of one list; exists for the length of one call. */
class ListReader {
  readonly #text: string;
  readonly #file: string | undefined;
  readonly #list: JsonObject;

  constructor(bytes: Uint8Array, file: string | undefined) {
    const about = { what: PARSING_LIST, ...(file !== undefined && { file }) };
    const value = parseJson(bytes, about);
    this.#text = decodeText(bytes, about);
    this.#file = file;
    if (!isJsonObject(value)) throw this.#problem([], `expected an object, got ${describe(value)}`);
    if (!('plugins' in value) && typeof value['type'] === 'string' && !('loadOnlyInlinedPlugins' in value)) {
      throw this.#problem(['type'], "no 'plugins' key", {
        cniDetails: 'this is the configuration of a single plugin: the name of its file must end in .conf',
      });
    }
    this.#list = value;
  }

  name(): string {
    const name = this.#list['name'];
    if (name === undefined) throw this.#problem([], 'no name', this.#misspelled('name'));
    if (typeof name !== 'string') throw this.#mismatch(['name'], 'a string', name);
    return name;
  }

  version(): string {
    const cniVersion = this.#list['cniVersion'] ?? '';
    if (typeof cniVersion !== 'string') throw this.#mismatch(['cniVersion'], 'a string', cniVersion);
    if (!('cniVersions' in this.#list)) return cniVersion;
    const offered = this.#list['cniVersions'];
    if (!isArray(offered)) throw this.#mismatch(['cniVersions'], 'a list of versions', offered);
    const versions = offered.map((version, index) => {
      if (typeof version !== 'string') throw this.#mismatch(['cniVersions', index], 'a string', version);
      return version;
    });
    try {
      return negotiate(versions, cniVersion);
    } catch (error) {
      if (error instanceof DecodeError) throw this.#problem(['cniVersions'], error.reason);
      throw error;
    }
  }

  flag(key: 'disableCheck' | 'disableGC' | 'loadOnlyInlinedPlugins'): boolean {
    const value = this.#list[key];
    if (value === undefined || typeof value === 'boolean') return value ?? false;
    if (typeof value !== 'string') throw this.#mismatch([key], 'true or false', value);
    const lower = value.toLowerCase();
    if (lower !== 'true' && lower !== 'false') {
      throw this.#problem([key], `invalid value "${value}" for ${key}`, { expected: 'true or false' });
    }
    return lower === 'true';
  }

  plugins(onlyInlined: boolean): readonly PluginConfig[] {
    const plugins = this.#list['plugins'];
    if (plugins === undefined) {
      if (!onlyInlined) return [];
      const reason = "`loadOnlyInlinedPlugins` is true, and no 'plugins' key";
      throw this.#problem([], reason, this.#misspelled('plugins'));
    }
    if (!isArray(plugins)) throw this.#mismatch(['plugins'], 'a list', plugins);
    if (plugins.length === 0) throw this.#problem(['plugins'], 'no plugins in list');
    return plugins.map((plugin, index) =>
      pluginConfigOf(plugin, {
        what: `${PARSING_LIST}: plugin ${index}`,
        ...(this.#file !== undefined && { file: this.#file }),
        source: { text: this.#text, path: ['plugins', index] },
      }),
    );
  }

  #misspelled(key: string): { hint?: string } {
    const found = unknownListKeys(this.#list).find(({ suggestion }) => suggestion === key);
    return found === undefined
      ? {}
      : { hint: `there is a key "${found.key}", but it must be spelled "${key}"` };
  }

  #mismatch(path: JsonPath, expected: string, value: JsonValue | undefined): ConfigError {
    const received = describe(value);
    const place = path.map(String).join('.');
    return this.#problem(path, `${place}: expected ${expected}, got ${received}`, { expected, received });
  }

  #problem(path: JsonPath, reason: string, more: object = {}): ConfigError {
    return new ConfigError(reason, {
      what: PARSING_LIST,
      pointer: jsonPointer(path),
      ...(this.#file !== undefined && { file: this.#file }),
      ...locate(this.#text, path),
      ...more,
    });
  }
}

function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
