import type { ListedAttachment } from '@heddle/doctor/inventory';

/** An attachment as `-o json` prints it: the time is ISO 8601. */
export function attachmentJson(attachment: ListedAttachment) {
  const { addedAt } = attachment;
  return { ...attachment, addedAt: addedAt === null ? null : new Date(addedAt).toISOString() };
}
