/** What ADD printed, as a result. */
import { DecodeError, isJsonObject, type JsonValue, parseJson, parseResult, type Result } from '../index.ts';
import { excerpt } from './plugin-failure.ts';

/** The plugin that printed something, for messages. */
export interface PluginPlace {
  readonly type: string;
  readonly path: string;
}

/**
 * Decodes the output of a successful ADD. A result that names no version has the configuration's.
 *
 * @throws {DecodeError} when the output is no result; names the plugin and quotes what it printed.
 */
export function decodePluginResult(stdout: string, configVersion: string, plugin: PluginPlace): Result {
  const json = parseOutput(stdout, plugin);
  if (!isJsonObject(json)) throw unusable(plugin, 'what it printed is no result object', stdout);
  return parseResult(json, { version: configVersion });
}

function parseOutput(stdout: string, plugin: PluginPlace): JsonValue {
  if (stdout.trim() === '') throw unusable(plugin, 'it succeeded, but printed no result', stdout);
  try {
    return parseJson(stdout);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw unusable(plugin, `what it printed is no JSON: ${error.reason}`, stdout, error);
  }
}

function unusable({ type, path }: PluginPlace, reason: string, stdout: string, cause?: unknown): DecodeError {
  const printed = stdout === '' ? '' : `: ${excerpt(stdout)}`;
  return new DecodeError(`plugin "${type}" (${path}): ${reason}${printed}`, {
    code: 'RESULT_INVALID',
    ...(cause !== undefined && { cause }),
  });
}
