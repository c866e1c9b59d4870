/**
 * The configuration of one plugin: the few members that a runtime looks at, and the whole object, which it
 * passes on as it is.
 */
import * as v from 'valibot';
import { type DecodeConfigOptions, decodeParsed } from './decode.ts';
import { ConfigError } from './errors.ts';
import { goJson } from './go-json.ts';
import { decodeText, parseJson } from './json.ts';
import { locate } from './json-syntax.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';
import type { Dns } from './result.ts';
import { pluginEntries, validAttachmentSchema } from './schema.ts';

/** The configuration of one plugin. */
export interface PluginConfig {
  /** The name of the executable. */
  readonly type: string;
  readonly name?: string;
  readonly cniVersion?: string;
  /** What the plugin understands, by capability name; only those that are `true` count. */
  readonly capabilities: Readonly<Record<string, boolean>>;
  /** The executable that the plugin delegates addresses to. */
  readonly ipamType?: string;
  readonly dns?: Dns;
  readonly prevResult?: JsonObject;
  /** The whole object, with the members that nobody here knows. */
  readonly raw: JsonObject;
  /** The text: the file's own for a single configuration, compact JSON for a member of a list. */
  readonly bytes: Uint8Array;
}

/** How errors of a single configuration begin. */
const PARSING_CONFIG = 'error parsing configuration';

/**
 * Reads the text of a single plugin configuration (a `.conf` file).
 *
 * @throws {DecodeError} when it is no JSON.
 * @throws {ConfigError} when a member is not valid, `type` is missing, or the text is a list of plugins.
 */
export function parsePluginConfig(bytes: Uint8Array, options: { readonly file?: string } = {}): PluginConfig {
  const about = { ...options, what: PARSING_CONFIG };
  const value = parseJson(bytes, about);
  const source = { text: decodeText(bytes, about), path: [] };
  if (isJsonObject(value) && 'plugins' in value && typeof value['type'] !== 'string') {
    const place = options.file === undefined ? {} : { ...options, ...locate(source.text, ['plugins']) };
    throw new ConfigError("missing 'type'", {
      what: PARSING_CONFIG,
      ...place,
      pointer: '/plugins',
      cniDetails: 'this is a list of plugins: the name of its file must end in .conflist',
    });
  }
  return pluginConfig(value, bytes, { ...about, source });
}

/**
 * The configuration in a JSON value, a member of a list.
 *
 * @throws {ConfigError} when a member is not valid or `type` is missing.
 */
export function pluginConfigOf(value: JsonValue, options: DecodeConfigOptions): PluginConfig {
  return pluginConfig(value, new TextEncoder().encode(goJson(value)), options);
}

function pluginConfig(value: JsonValue, bytes: Uint8Array, options: DecodeConfigOptions): PluginConfig {
  const view = decodeParsed(pluginSchema, value, options);
  if (view.type === '') throw missingType(options);
  const ipamType = view.ipam?.type ?? '';
  return {
    type: view.type,
    ...(view.name !== '' && { name: view.name }),
    ...(view.cniVersion !== '' && { cniVersion: view.cniVersion }),
    capabilities: view.capabilities ?? {},
    ...(ipamType !== '' && { ipamType }),
    ...(view.dns !== undefined && { dns: view.dns as Dns }),
    ...(view.prevResult !== undefined && { prevResult: view.prevResult as JsonObject }),
    raw: value as JsonObject,
    bytes,
  };
}

const pluginSchema = v.object({
  ...pluginEntries,
  'cni.dev/valid-attachments': v.optional(v.array(validAttachmentSchema)),
});

function missingType({ what, file, source }: DecodeConfigOptions): ConfigError {
  return new ConfigError("missing 'type'", {
    pointer: '/type',
    ...(what !== undefined && { what }),
    ...(file !== undefined && { file }),
    ...(file !== undefined && source !== undefined && locate(source.text, source.path)),
  });
}
