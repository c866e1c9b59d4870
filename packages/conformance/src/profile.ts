/** A profile: what a plugin does not claim, each with a reason, so that its authors can take up the kit step by step. */
import { CNI_VERSIONS, ConfigError, decodeConfig, isJsonObject, locate, parseJson } from '@heddle/cni';
import * as v from 'valibot';

/** A check, or a whole suite, that the plugin does not claim to pass. */
export interface Unclaimed {
  /** The id of a check, or the name of a suite. */
  readonly check: string;
  readonly reason: string;
}

/** See the file's comment. */
export interface Profile {
  readonly unclaimed: readonly Unclaimed[];
  /** Of a runtime: the newest version of networks that it knows, where that is not the specification's. */
  readonly cniVersion?: string | undefined;
}

/** Nothing is excused. */
export const CLAIMS_ALL: Profile = { unclaimed: [] };

const sentence = v.pipe(v.string(), v.trim(), v.minLength(1, 'must say why'));
const schema = v.object({
  unclaimed: v.array(v.object({ check: sentence, reason: sentence })),
  cniVersion: v.optional(v.picklist(CNI_VERSIONS)),
});

/**
 * Reads a profile.
 *
 * @param known ids of checks and names of suites
 * @throws {ConfigError|DecodeError} for what is no profile, lacks a reason, or names a check that there is not: with file,
 *   line and column
 * @example parseProfile('{"unclaimed":[{"check":"gc","reason":"keeps no state"}]}', 'profile.json', ids)
 */
export function parseProfile(text: string, file: string, known: readonly string[]): Profile {
  if (!isJsonObject(parseJson(text, { file })))
    throw new ConfigError('a profile is a JSON object', { file, line: 1, column: 1 });
  const profile = decodeConfig(schema, text, { file });
  const at = profile.unclaimed.findIndex(({ check }) => !known.includes(check));
  const stranger = profile.unclaimed[at];
  if (stranger === undefined) return profile;
  throw new ConfigError(`there is no check or suite called ${JSON.stringify(stranger.check)}`, {
    file,
    ...locate(text, ['unclaimed', at, 'check']),
    hint: 'heddle conformance --list shows them',
  });
}

/** Why a check is not claimed; `undefined` when it is. */
export function excuseFor({ unclaimed }: Profile, id: string): string | undefined {
  return unclaimed.find(({ check }) => check === id || id.startsWith(`${check}/`))?.reason;
}
