/**
 * Who holds a host port that somebody else asks for, and whether they are still there.
 *
 * A container that died without a DEL leaves its ports behind. The kernel is asked whether any link of this node still
 * leads to it; where that cannot be ruled out, the port is taken, and ADD says by whom.
 */
import { CNI_CODE, CniError } from '@heddle/cni';
import { aliasTag, type OwnerTag, tagKey } from '@heddle/cni/plugin';
import type { Addr } from '@heddle/netaddr';
import { type KernelSession, type Link, NetlinkError } from '@heddle/netlink';
import { type OwnedElement, targetOf } from './owned-elements.ts';

/**
 * True when it is certain that an element's owner is gone: its address is reached by no link of this node, or only by
 * links that belong to others (by a bridge: each of whose ports does).
 */
export async function isHolderGone(host: KernelSession, { element, owner }: OwnedElement): Promise<boolean> {
  const addr = targetOf(element);
  if (addr === undefined || owner === undefined) return false;
  const link = await linkTo(host, addr);
  if (link === undefined) return true;
  const candidates = link.kind === 'bridge' ? await host.links.list({ master: link.index }) : [link];
  return candidates.every(({ alias }) => isSomeoneElse(aliasTag(alias), owner.tag));
}

/** The error for a port that is taken. */
export function portTaken(element: OwnedElement): CniError {
  const { owner } = element;
  const who =
    owner === undefined
      ? 'something that is not an attachment of this node'
      : `container ${owner.containerID ?? '(unknown)'}, interface ${owner.ifName ?? '(unknown)'} of network ${owner.network ?? '(unknown)'}`;
  const key: readonly unknown[] = Array.isArray(element.element.key) ? element.element.key : [];
  const [port, protocol, bound] = key.toReversed();
  const where = `${bound === undefined ? '' : `${bound} `}${port}/${protocol}`;
  const to = targetOf(element.element);
  return new CniError(
    CNI_CODE.EXISTS,
    `host port ${where} is published already: ${who} has it${to === undefined ? '' : `, at ${to}`}`,
    { hint: 'publish another port, or remove the other container (GC does, when its runtime has lost it)' },
  );
}

/** The link that packets to `addr` leave by; none when they would go to a router, or nowhere. */
async function linkTo({ routes, links }: KernelSession, addr: Addr): Promise<Link | undefined> {
  try {
    const { link, gateway, via } = await routes.lookup(addr);
    return link === undefined || gateway !== undefined || via !== undefined
      ? undefined
      : await links.find(link);
  } catch (error) {
    if (NetlinkError.is(error, 'ENETUNREACH', 'EHOSTUNREACH', 'ESRCH', 'EACCES', 'EINVAL', 'ENOENT'))
      return undefined;
    throw error;
  }
}

/** Links without an owner's alias may lead to anybody. */
function isSomeoneElse(tag: OwnerTag | undefined, holder: OwnerTag): boolean {
  return tag !== undefined && tagKey(tag) !== tagKey(holder);
}
