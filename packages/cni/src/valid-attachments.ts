/**
 * The attachments that are alive, as GC gets them. The specification's key is `cni.dev/valid-attachments`;
 * the reference's runtime also sends `cni.dev/attachments`, and some plugins know only that.
 */
import * as v from 'valibot';
import type { ValidAttachment } from './attachment.ts';
import { decodeConfig } from './decode.ts';
import { ConfigError } from './errors.ts';
import type { JsonObject } from './json-value.ts';
import { validAttachmentSchema } from './schema.ts';

/** The keys under which a runtime sends the attachments that are alive. */
export const VALID_ATTACHMENT_KEYS = ['cni.dev/valid-attachments', 'cni.dev/attachments'] as const;

/**
 * The attachments that are alive, from the configuration that GC was called with. Null and the empty list
 * mean that none is. When both keys are there and differ, what either names is alive.
 *
 * @throws {ConfigError} when neither key is there: nobody said what is alive, so nothing may be deleted.
 */
export function readValidAttachments(config: JsonObject): readonly ValidAttachment[] {
  const present = VALID_ATTACHMENT_KEYS.filter((key) => Object.hasOwn(config, key));
  if (present.length === 0) {
    throw new ConfigError(
      `${VALID_ATTACHMENT_KEYS[0]} is missing: nothing says which attachments are alive`,
      {
        pointer: '',
        code: 'ATTACHMENTS_MISSING',
      },
    );
  }
  const named = present.flatMap((key) => decodeConfig(schema, { [key]: config[key] })[key] ?? []);
  const unique = new Map(
    named.map((attachment) => [`${attachment.containerID}/${attachment.ifname}`, attachment]),
  );
  return [...unique.values()];
}

const attachments = v.optional(v.array(validAttachmentSchema));
const schema = v.object({ 'cni.dev/valid-attachments': attachments, 'cni.dev/attachments': attachments });
