/** What is inside the namespaces of attachments, and which link of the node leads there. */
import { parseResult, type Result } from '@heddle/cni';
import type { CachedAttachment } from '@heddle/cni/runtime';
import { Addr } from '@heddle/netaddr';
import { type Address, type KernelSession, type Link, openSession, type Route } from '@heddle/netlink';
import { openNetns, SysError } from '@heddle/sys';
import type { ListedAttachment } from '../inventory/attachments.ts';

/** One attachment, from both sides. */
export interface PodView {
  readonly attachment: ListedAttachment;
  readonly cached: CachedAttachment | undefined;
  /** What ADD answered; `undefined` when nobody knows, or it cannot be read. */
  readonly result: Result | undefined;
  /** `undefined` when the namespace is gone, or its path is not known. */
  readonly inside: PodInside | undefined;
  /** The node's end of a veth pair; `undefined` when there is none, or it is not known. */
  readonly hostLink: Link | undefined;
}

/** The inside of a namespace. */
export interface PodInside {
  /** The path by which it can be opened. */
  readonly path: string;
  /** The attachment's own link. */
  readonly link: Link | undefined;
  /** Of the attachment's link. */
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
}

/** What is known without looking inside. */
export interface KnownFromOutside {
  readonly cached: readonly CachedAttachment[];
  /** The node's own links. */
  readonly links: readonly Link[];
}

/** Looks into the namespaces of some attachments, each once. */
export async function lookIntoPods(
  attachments: readonly ListedAttachment[],
  { cached, links }: KnownFromOutside,
): Promise<readonly PodView[]> {
  const pods: PodView[] = [];
  const known = new Map(cached.map((each) => [keyOf(each), each]));
  const byIndex = new Map(links.map((link) => [link.index, link]));
  const byName = new Map(links.map((link) => [link.name, link]));
  const namespaces = new Map<string, Whole | undefined>();
  for (const attachment of attachments) {
    const entry = known.get(keyOf(attachment));
    const result = resultOf(entry);
    const path = attachment.netns;
    if (path !== null && !namespaces.has(path)) namespaces.set(path, await lookInto(path));
    const whole = path === null ? undefined : namespaces.get(path);
    const inside = whole && ofLink(whole, attachment.ifName);
    pods.push({
      ...{ attachment, cached: entry, result, inside },
      hostLink: hostLinkOf({ attachment, result, inside, byIndex, byName }),
    });
  }
  return pods;
}

/** How messages name an attachment: by its pod where that is known. */
export function nameOf({ pod, containerID, ifName, network }: ListedAttachment): string {
  const id = containerID.length > 20 ? `${containerID.slice(0, 12)}…` : containerID;
  const who = pod?.name != null ? `${pod.namespace ?? '?'}/${pod.name}` : id;
  return `${who} ${ifName ?? ''} on ${network}`.replace('  ', ' ');
}

/** The addresses that an attachment should have, by the result of its ADD. */
export function promisedAddresses({ result }: PodView): readonly Addr[] {
  return (result?.ips ?? []).flatMap(({ address }) => Addr.tryParse(address.split('/')[0] ?? '') ?? []);
}

/** Opens the kernel as an attachment's namespace sees it; `undefined` when it has gone meanwhile. */
export function openInside({ path }: PodInside): (KernelSession & Disposable) | undefined {
  try {
    const netns = openNetns(path);
    const session = openSession({ netns });
    const closed = session[Symbol.dispose].bind(session);
    return Object.assign(session, {
      [Symbol.dispose]() {
        closed();
        netns.close();
      },
    });
  } catch (error) {
    if (SysError.is(error, 'ENOENT', 'EINVAL', 'ENOTDIR', 'EACCES', 'EPERM')) return undefined;
    throw error;
  }
}

interface Whole {
  readonly path: string;
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
}

async function lookInto(path: string): Promise<Whole | undefined> {
  try {
    using netns = openNetns(path);
    using session = openSession({ netns, mode: 'sync' });
    const links = await session.links.list();
    return { path, links, addresses: await session.addresses.list(), routes: await session.routes.list() };
  } catch (error) {
    if (SysError.is(error, 'ENOENT', 'EINVAL', 'ENOTDIR', 'EACCES', 'EPERM')) return undefined;
    throw error;
  }
}

function ofLink({ path, links, addresses, routes }: Whole, ifName: string | null): PodInside {
  const link = links.find(({ name }) => name === ifName);
  return { path, link, addresses: addresses.filter((each) => each.link === link?.index), routes };
}

/**
 * The node's end: by the owner that its alias names; by the index that the other end tells, if the link there is a
 * veth with the same index of its own; else by the name in the result.
 */
function hostLinkOf({
  attachment,
  result,
  inside,
  byIndex,
  byName,
}: Omit<PodView, 'cached' | 'hostLink'> & {
  readonly byIndex: ReadonlyMap<number, Link>;
  readonly byName: ReadonlyMap<string, Link>;
}): Link | undefined {
  const owned = attachment.link === null ? undefined : byName.get(attachment.link);
  if (owned !== undefined) return owned;
  const other =
    inside?.link?.kind === 'veth' && inside.link.parent !== undefined
      ? byIndex.get(inside.link.parent)
      : undefined;
  if (other?.kind === 'veth' && other.parent === inside?.link?.index) return other;
  const named = (result?.interfaces ?? []).find(
    ({ sandbox = '', name }) => sandbox === '' && byName.get(name)?.kind === 'veth',
  );
  return named && byName.get(named.name);
}

function resultOf(entry: CachedAttachment | undefined): Result | undefined {
  if (entry?.result === undefined) return undefined;
  try {
    return parseResult(entry.result, { version: '' });
  } catch {
    // Another program's result that cannot be read tells nothing.
    return undefined;
  }
}

function keyOf({
  network,
  containerID,
  ifName,
}: {
  network: string;
  containerID: string;
  ifName: string | null;
}): string {
  return `${network}/${containerID}/${ifName ?? ''}`;
}
