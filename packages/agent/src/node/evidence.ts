/** Which attachments are there, as far as the machine itself shows it. In doubt, they are. */
import { aliasTag, ownerTag, tagKey } from '@heddle/cni/plugin';
import type { HandleRecord } from '@heddle/ipam/blocks';
import { attachmentOf } from '@heddle/ipam/cluster';
import type { KernelSession } from '@heddle/netlink';
import { openNetns, SysError } from '@heddle/sys';

/**
 * The handles whose addresses may be in use. One is not, when no link on the host is its attachment's, and the path of
 * its container's network namespace does not name that namespace any more. A handle of something else than an
 * attachment, and one of whose namespace nothing is known, always is.
 */
export async function handlesInUse(
  records: readonly HandleRecord[],
  host: KernelSession,
): Promise<ReadonlySet<string>> {
  const tags = new Set<string>();
  for (const { alias } of await host.links.list()) {
    const tag = aliasTag(alias);
    if (tag !== undefined) tags.add(tagKey(tag));
  }
  return new Set(records.filter((record) => isInUse(record, tags)).map(({ handle }) => handle));
}

function isInUse({ handle, sandbox }: HandleRecord, tags: ReadonlySet<string>): boolean {
  const attachment = attachmentOf(handle);
  if (attachment === undefined || sandbox === undefined) return true;
  return tags.has(tagKey(ownerTag(attachment))) || names(sandbox);
}

function names({ path, key }: NonNullable<HandleRecord['sandbox']>): boolean {
  try {
    using netns = openNetns(path);
    return netns.key === key;
  } catch (error) {
    if (SysError.is(error, 'ENOENT', 'EINVAL', 'ENOTDIR')) return false;
    // What cannot be looked at may be there.
    if (SysError.is(error)) return true;
    throw error;
  }
}
