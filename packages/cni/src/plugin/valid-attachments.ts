/**
 * The attachments that GC declares valid. The specification calls the key `cni.dev/valid-attachments`; the
 * reference's library sends `cni.dev/attachments` as well, so either will do.
 */
import type { ValidAttachment } from '../attachment.ts';
import { ConfigError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-value.ts';

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
  const key = [VALID_ATTACHMENTS, ATTACHMENTS].find((name) => Object.hasOwn(config, name));
  if (key === undefined) {
    throw new ConfigError(`GC needs the key ${JSON.stringify(VALID_ATTACHMENTS)}; nothing was changed`, {
      pointer: `/${VALID_ATTACHMENTS.replace('/', '~1')}`,
      hint: 'an empty list declares that no attachment is valid',
    });
  }
  const list = config[key];
  if (list === null) return [];
  if (!Array.isArray(list)) throw malformed(key, 'a list');
  return list.map((item: unknown, index) => {
    const members = isJsonObject(item)
      ? new Map(Object.entries(item).map(([k, v]) => [k.toLowerCase(), v]))
      : undefined;
    const containerID = members?.get('containerid');
    const ifname = members?.get('ifname');
    if (typeof containerID !== 'string' || typeof ifname !== 'string') {
      throw malformed(`${key}[${index}]`, 'an object with the strings containerID and ifname');
    }
    return { containerID, ifname };
  });
}

function malformed(where: string, expected: string): ConfigError {
  return new ConfigError(`${where}: expected ${expected}; nothing was changed`, { expected });
}
