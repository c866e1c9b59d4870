/**
 * The attachments of this node, from three places that know of them independently: the runtime's cache, the
 * owners' aliases on links in the kernel, and host-local's reservations. What they agree on is one entry; what
 * only some of them know tells of a runtime that crashed, or of a DEL that never came.
 */
import { type AttachmentId, attachmentKey, parseResult } from '@heddle/cni';
import { type OwnerAlias, parseOwnerAlias } from '@heddle/cni/plugin';
import type { CachedAttachment } from '@heddle/cni/runtime';
import type { NetworkReservation } from './reservations.ts';

/** Who knows of an attachment. */
type Witness = 'cache' | 'link' | 'reservation';

/**
 * How an attachment is: `attached`; `stale`, when its namespace is gone and nobody has deleted it;
 * `untracked`, when the runtime's cache does not know it.
 */
type AttachmentState = 'attached' | 'stale' | 'untracked';

/** An attachment of this node. `null` is what nobody knows. */
export interface ListedAttachment {
  readonly network: string;
  readonly containerID: string;
  readonly ifName: string | null;
  readonly state: AttachmentState;
  /** The path of its namespace. */
  readonly netns: string | null;
  /** With prefix lengths where a result tells them. */
  readonly ips: readonly string[];
  /** Milliseconds since the epoch. */
  readonly addedAt: number | null;
  /** The link on the host's side. */
  readonly link: string | null;
  /** The Kubernetes pod that the runtime named. */
  readonly pod: {
    readonly namespace: string | null;
    readonly name: string | null;
    readonly uid: string | null;
  } | null;
  readonly knownBy: readonly Witness[];
}

/** What the three places say. */
export interface Evidence {
  readonly cached: readonly CachedAttachment[];
  /** The links of the host's namespace. */
  readonly links: readonly { readonly name: string; readonly alias?: string }[];
  readonly reservations: readonly NetworkReservation[];
  readonly hasNetns: (path: string) => boolean;
}

/** The attachments, ordered by network, container and interface. */
export function listAttachments({
  cached,
  links,
  reservations,
  hasNetns,
}: Evidence): readonly ListedAttachment[] {
  const owned = links.flatMap(({ name, alias }) => {
    const owner = parseOwnerAlias(alias);
    return owner === undefined ? [] : [{ name, owner }];
  });
  const ids = new Map<string, Known>();
  for (const id of [...cached, ...owned.map(({ owner }) => owner)]) ids.set(attachmentKey(id), idOf(id));
  const claimed = (known: Known) => reservations.filter((each) => isReservationOf(known, each));
  const assigned = new Set([...ids.values()].flatMap(claimed));
  for (const each of reservations) {
    if (assigned.has(each)) continue;
    const known = { network: each.network, containerID: each.containerID, ifName: each.ifName ?? null };
    ids.set(`${known.network}/${known.containerID}/${known.ifName ?? ''}`, known);
  }
  return [...ids.values()].toSorted(compare).map((known) =>
    describe(known, {
      entry: cached.find((each) => isSame(known, each)),
      link: owned.find(({ owner }) => isSame(known, owner)),
      reserved: claimed(known),
      hasNetns,
    }),
  );
}

/** An identity of which the interface may not be known. */
interface Known {
  readonly network: string;
  readonly containerID: string;
  readonly ifName: string | null;
}

interface Facts {
  readonly entry: CachedAttachment | undefined;
  readonly link: { readonly name: string; readonly owner: OwnerAlias } | undefined;
  readonly reserved: readonly NetworkReservation[];
  readonly hasNetns: (path: string) => boolean;
}

function describe(known: Known, { entry, link, reserved, hasNetns }: Facts): ListedAttachment {
  const ips = entry === undefined ? [] : ipsOf(entry);
  const created = reserved.map(({ createdAt }) => createdAt);
  const netns = entry?.netns ?? null;
  const witnesses: readonly (readonly [Witness, boolean])[] = [
    ['cache', entry !== undefined],
    ['link', link !== undefined],
    ['reservation', reserved.length > 0],
  ];
  return {
    ...known,
    state: entry === undefined ? 'untracked' : netns !== null && !hasNetns(netns) ? 'stale' : 'attached',
    netns,
    ips: ips.length > 0 ? ips : reserved.map(({ addr }) => addr),
    addedAt: entry?.addedAt ?? (created.length > 0 ? Math.min(...created) : null),
    link: link?.name ?? null,
    pod: podOf(entry, link?.owner),
    knownBy: witnesses.filter(([, knows]) => knows).map(([witness]) => witness),
  };
}

function ipsOf({ result }: CachedAttachment): readonly string[] {
  try {
    const { ips = [] } = result === undefined ? {} : parseResult(result, { version: '' });
    return ips.map(({ address }) => address);
  } catch {
    // Another program's result that cannot be read has no addresses to show; `show` prints it as it is.
    return [];
  }
}

function podOf(entry: CachedAttachment | undefined, owner: OwnerAlias | undefined): ListedAttachment['pod'] {
  const args = new Map(entry?.args ?? []);
  const namespace = args.get('K8S_POD_NAMESPACE') ?? owner?.podNamespace ?? null;
  const name = args.get('K8S_POD_NAME') ?? owner?.podName ?? null;
  const uid = args.get('K8S_POD_UID') ?? owner?.podUid ?? null;
  return namespace === null && name === null && uid === null ? null : { namespace, name, uid };
}

function idOf({ network, containerID, ifName }: AttachmentId): Known {
  return { network, containerID, ifName };
}

function isSame(known: Known, id: AttachmentId): boolean {
  return known.network === id.network && known.containerID === id.containerID && known.ifName === id.ifName;
}

/** Reservations in the oldest format name no interface: they are every interface's of the container. */
function isReservationOf(known: Known, each: NetworkReservation): boolean {
  if (known.network !== each.network || known.containerID !== each.containerID) return false;
  return each.ifName === undefined || each.ifName === known.ifName;
}

function compare(a: Known, b: Known): number {
  const order = (left: string, right: string) => (left < right ? -1 : left > right ? 1 : 0);
  return (
    order(a.network, b.network) ||
    order(a.containerID, b.containerID) ||
    order(a.ifName ?? '', b.ifName ?? '')
  );
}
