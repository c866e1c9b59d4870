/**
 * The attachments that GC declares valid. The specification calls the key `cni.dev/valid-attachments`; the
 * reference's library sends `cni.dev/attachments` as well. Either will do; what only one of them names is valid.
 */
import type { ValidAttachment } from '../attachment.ts';
import { ConfigError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { memberOf } from './request.ts';

/** The key of the specification. */
export const VALID_ATTACHMENTS = 'cni.dev/valid-attachments';
/** The second key that the reference's library sends. */
export const ATTACHMENTS = 'cni.dev/attachments';

/**
 * Reads the valid attachments of a GC configuration. `null` and `[]` mean that none is valid.
 *
 * @throws {ConfigError} code 7 when neither key is there, for that must never mean «delete everything», or
 *   when the list is malformed
 */
export function readValidAttachments(config: JsonObject): readonly ValidAttachment[] {
  const keys = [VALID_ATTACHMENTS, ATTACHMENTS].filter((name) => Object.hasOwn(config, name));
  if (keys.length === 0) {
    throw new ConfigError(`GC needs the key ${JSON.stringify(VALID_ATTACHMENTS)}; nothing was changed`, {
      pointer: `/${VALID_ATTACHMENTS.replace('/', '~1')}`,
      hint: 'an empty list declares that no attachment is valid',
    });
  }
  return keys.flatMap((key) => readList(key, config[key]));
}

function readList(key: string, list: unknown): readonly ValidAttachment[] {
  if (list === null) return [];
  if (!Array.isArray(list)) throw malformed(key, 'a list');
  return list.map((item: unknown, index) => {
    const containerID = isJsonObject(item) ? memberOf(item, 'containerID') : undefined;
    const ifname = isJsonObject(item) ? memberOf(item, 'ifname') : undefined;
    if (typeof containerID !== 'string' || typeof ifname !== 'string') {
      throw malformed(`${key}[${index}]`, 'an object with the strings containerID and ifname');
    }
    return { containerID, ifname };
  });
}

function malformed(where: string, expected: string): ConfigError {
  return new ConfigError(`${where}: expected ${expected}; nothing was changed`, { expected });
}
