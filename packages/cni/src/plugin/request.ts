/** The configuration on stdin, as far as every plugin understands it alike. */
import { validateNetworkName } from '../attachment.ts';
import { CNI_CODE } from '../codes.ts';
import type { Command } from '../environment.ts';
import { CniError, DecodeError } from '../errors.ts';
import { decodeText, parseJson } from '../json.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';
import { atLeast, type CniVersion, compareVersions } from '../versions.ts';
import type { Decoded } from './decoded.ts';
import type { Plugin } from './definition.ts';

/** A configuration whose common members are sound. */
export interface Request {
  readonly raw: JsonObject;
  readonly stdin: Uint8Array;
  /** The same as text, to find positions in. */
  readonly text: string;
  readonly network: string;
  readonly cniVersion: string;
}

const WHAT = 'error unmarshall network config';

/**
 * Reads the common members of a configuration.
 *
 * @param decoded what was read before, in a process that serves many
 * @throws {DecodeError} code 6 for what is not JSON or of the wrong type; {CniError} code 7 for a bad name
 */
export function readRequest(stdin: Uint8Array, decoded?: Decoded): Request {
  const source = decodeText(stdin, { what: WHAT });
  if (decoded === undefined) return readText(source, stdin);
  const known = decoded.wholeOf<Request>(source);
  if (known !== undefined) return { ...known, stdin };
  const request = readText(source, stdin);
  // The previous result is another one for each pod, and so are its port mappings.
  if (!PER_POD.test(source)) decoded.keepWhole(source, request, request.raw);
  return request;
}

const PER_POD = /"(?:prevResult|runtimeConfig)"/i;

function readText(source: string, stdin: Uint8Array): Request {
  const raw = parseJson(source, { what: WHAT });
  if (!isJsonObject(raw)) throw new DecodeError('the configuration must be a JSON object', { what: WHAT });
  const network = text(raw, 'name');
  validateNetworkName(network);
  const cniVersion = text(raw, 'cniVersion');
  return { raw, stdin, text: source, network, cniVersion: cniVersion === '' ? '0.1.0' : cniVersion };
}

/**
 * Checks that the plugin speaks the configuration's version, and that this version has the command.
 *
 * @throws {CniError} code 1 with the reference's texts
 */
export function checkVersion({ versions }: Plugin, command: Command, cniVersion: string): void {
  const since = SINCE[command];
  if (since !== undefined) {
    if (!atLeast(cniVersion, since)) {
      throw new CniError(CNI_CODE.INCOMPATIBLE_VERSION, `config version does not allow ${command}`);
    }
    if (!versions.some((version) => compareVersions(version, cniVersion) >= 0)) {
      throw new CniError(CNI_CODE.INCOMPATIBLE_VERSION, `plugin version does not allow ${command}`);
    }
  }
  if (!versions.some((version) => version === cniVersion)) {
    throw new CniError(CNI_CODE.INCOMPATIBLE_VERSION, 'incompatible CNI versions', {
      cniDetails: `config is ${JSON.stringify(cniVersion)}, plugin supports [${versions.map((v) => JSON.stringify(v)).join(' ')}]`,
    });
  }
}

const SINCE: Partial<Record<Command, CniVersion>> = { CHECK: '0.4.0', GC: '1.1.0', STATUS: '1.1.0' };

/** A member by name as Go's decoder finds it: in any letter case, the last of several, `null` as absent. */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  const wanted = name.toLowerCase();
  let found: JsonValue | undefined;
  for (const key in object) {
    // No name of ours has a letter whose other case is longer or shorter.
    if (key.length !== wanted.length || (key !== name && key.toLowerCase() !== wanted)) continue;
    const value = object[key];
    if (value !== null && value !== undefined) found = value;
  }
  return found;
}

function text(raw: JsonObject, name: string): string {
  const found = memberOf(raw, name) ?? '';
  if (typeof found !== 'string') throw new DecodeError(`${name} must be a string`, { what: WHAT });
  return found;
}
