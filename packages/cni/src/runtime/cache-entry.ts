/** The bytes of one entry of the result cache: `cniCacheV1`, as libcni writes it. */
import {
  type AttachmentId,
  type CniArgs,
  DecodeError,
  goJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../index.ts';

/** What is kept of an attachment. */
export interface CacheEntry extends AttachmentId {
  /** The configuration's own bytes. */
  readonly config: Uint8Array;
  readonly netns?: string;
  readonly args?: CniArgs;
  readonly capabilityArgs?: JsonObject;
  /** The final result of ADD. */
  readonly result?: JsonObject;
}

/** The text of an entry. The order of its members is the reference's. */
export function encodeEntry(entry: CacheEntry): string {
  const { netns = '', args = [], capabilityArgs = {}, result = {} } = entry;
  const members: readonly (readonly [string, unknown])[] = [
    ['kind', KIND],
    ['containerId', entry.containerID],
    ['config', Buffer.from(entry.config).toString('base64')],
    ['ifName', entry.ifName],
    ['networkName', entry.network],
    ['netns', netns || undefined],
    ['cniArgs', args.length > 0 ? args : undefined],
    ['capabilityArgs', Object.keys(capabilityArgs).length > 0 ? capabilityArgs : undefined],
    ['result', Object.keys(result).length > 0 ? result : undefined],
  ];
  const present = members.filter(([, value]) => value !== undefined);
  return `{${present.map(([name, value]) => `"${name}":${goJson(value)}`).join(',')}}`;
}

/**
 * Reads the text of an entry.
 *
 * @throws {DecodeError} when it is none; the message begins with `what`.
 */
export function decodeEntry(text: string, what: string): CacheEntry {
  const json = parseJson(text, { what });
  if (!isJsonObject(json)) throw new DecodeError('the file is no JSON object', { what });
  if (json['kind'] !== KIND) {
    throw new DecodeError(`read cached config has wrong kind: ${goJson(json['kind'] ?? '')}`, {
      what,
    });
  }
  const { netns, cniArgs, capabilityArgs, result } = json;
  return {
    network: textOr(json['networkName']),
    containerID: textOr(json['containerId']),
    ifName: textOr(json['ifName']),
    config: Buffer.from(textOr(json['config']), 'base64'),
    ...(typeof netns === 'string' && netns !== '' && { netns }),
    ...(isPairs(cniArgs) && { args: cniArgs }),
    ...(isJsonObject(capabilityArgs) && { capabilityArgs }),
    ...(isJsonObject(result) && { result }),
  };
}

const KIND = 'cniCacheV1';

function textOr(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function isPairs(value: JsonValue | undefined): value is CniArgs & JsonValue {
  return (
    Array.isArray(value) &&
    value.every(
      (pair) => Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string'),
    )
  );
}
