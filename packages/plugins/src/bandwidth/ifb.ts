/**
 * The ifb device of an attachment: what the container sends goes through it, because the kernel can only make
 * packets wait where they leave a link. Its name is derived from the owner, and its alias says who that is.
 */
import { type AttachmentId, attachmentKey } from '@heddle/cni';
import { isAliasOf } from '@heddle/cni/plugin';
import type { KernelSession, Link } from '@heddle/netlink';
import { sha512 } from '@heddle/sys';

/** The device's name: `bwp` and twelve hex digits. */
export function ifbName(attachment: AttachmentId): string {
  return nameFor(attachmentKey(attachment));
}

/** The name that the reference gives the device. All interfaces of a container in one network have the same. */
export function referenceIfbName({ network, containerID }: AttachmentId): string {
  return nameFor(`${network}${containerID}`);
}

/** The attachment's device under its own name, if it is there. Without an alias, an ADD died before it set one. */
export async function findIfb(host: KernelSession, attachment: AttachmentId): Promise<Link | undefined> {
  const link = await host.links.find(ifbName(attachment));
  const own = link?.kind === 'ifb' && (link.alias === undefined || isAliasOf(attachment, link.alias));
  return own ? link : undefined;
}

/** The device that the reference made for the attachment, or for another interface of its container. */
export async function findReferenceIfb(
  host: KernelSession,
  attachment: AttachmentId,
): Promise<Link | undefined> {
  const link = await host.links.find(referenceIfbName(attachment));
  return link?.kind === 'ifb' ? link : undefined;
}

function nameFor(key: string): string {
  return `bwp${sha512(key).slice(0, 12)}`;
}
