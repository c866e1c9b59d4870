/** VERSION: asking a plugin which versions of the specification it speaks. */
import {
  CURRENT_VERSION,
  DecodeError,
  isJsonObject,
  type JsonValue,
  PluginError,
  parseJson,
} from '../index.ts';
import type { CallOptions, RuntimeContext } from './context.ts';
import { type Environment, pluginEnvironment } from './plugin-environment.ts';
import { excerpt } from './plugin-failure.ts';

/** What a plugin says it speaks. */
export interface PluginVersions {
  readonly type: string;
  readonly path: string;
  readonly supportedVersions: readonly string[];
}

/** A plugin that failed when it was asked. */
export interface UnknownVersions {
  readonly type: string;
  readonly path: string;
  /** The plugin's own error. */
  readonly unknown: PluginError;
}

/**
 * Asks a plugin. One that does not know the command is from before it existed and speaks 0.1.0.
 *
 * @throws {CniError} when the plugin is not found, or {@link DecodeError} when it answers nonsense.
 */
export async function probeVersions(
  { exec, path: directories }: Pick<RuntimeContext, 'exec' | 'path'>,
  type: string,
  env: Environment,
  { signal, trace }: CallOptions = {},
): Promise<PluginVersions | UnknownVersions> {
  const path = exec.find(type, directories);
  // Old plugins look at variables that VERSION does not need, so these have something in them.
  const dummies = { command: 'VERSION', netns: 'dummy', ifName: 'dummy', path: ['dummy'], trace } as const;
  const stdin = `{"cniVersion":"${CURRENT_VERSION}"}`;
  try {
    const { stdout } = await exec.run({ type, path, env: pluginEnvironment(env, dummies), stdin, signal });
    return { type, path, supportedVersions: decodeVersions(stdout, `plugin "${type}" (${path})`) };
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    if (error.message === 'unknown CNI_COMMAND: VERSION') return { type, path, supportedVersions: ['0.1.0'] };
    if (signal?.aborted) throw error;
    return { type, path, unknown: error };
  }
}

/**
 * The versions in an answer to VERSION.
 *
 * @throws {DecodeError} whose message begins `decoding version info: `, and tells who answered what.
 */
function decodeVersions(stdout: string, who: string): readonly string[] {
  if (stdout.trim() === '') throw new DecodeError(`${who} returned no output to VERSION`);
  const info = parseAnswer(stdout, who);
  const problem = (reason: string): DecodeError =>
    new DecodeError(`decoding version info: ${reason}`, { cniDetails: `${who} answered ${excerpt(stdout)}` });
  if (!isJsonObject(info)) throw problem('expected an object');
  const { cniVersion, supportedVersions = [] } = info;
  if (typeof cniVersion !== 'string' || cniVersion === '') throw problem('missing field cniVersion');
  if (!isTexts(supportedVersions)) throw problem('supportedVersions must be a list of strings');
  if (supportedVersions.length > 0) return supportedVersions;
  if (cniVersion === '0.2.0') return ['0.1.0', '0.2.0'];
  throw problem('missing field supportedVersions');
}

function parseAnswer(stdout: string, who: string): JsonValue {
  try {
    return parseJson(stdout);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const cniDetails = `${who} answered ${excerpt(stdout)}`;
    throw new DecodeError(`decoding version info: ${error.reason}`, { cause: error, cniDetails });
  }
}

function isTexts(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
