/** One attachment as the kernel, the cache and host-local have it now. */
import { type AttachmentId, isJsonObject, type JsonObject, parseJson } from '@heddle/cni';
import { aliasTag, ownerTag, parseOwnerComment, tagKey } from '@heddle/cni/plugin';
import type { CachedAttachment } from '@heddle/cni/runtime';
import type { ListedAttachment, NetworkReservation } from '@heddle/doctor/inventory';
import type { Address, KernelSession, Link, Route } from '@heddle/netlink';
import { type OwnedRuleset, ownedRuleset } from './ruleset.ts';

/** What belongs to an attachment. Links, addresses and routes are of one side: the container's or the host's. */
export interface AttachmentView {
  readonly attachment: ListedAttachment;
  /** `undefined` when its namespace is gone, or not known. */
  readonly container: Side | undefined;
  readonly host: Side;
  readonly nftables: OwnedRuleset;
  readonly reservations: readonly NetworkReservation[];
  readonly cache: CachedAttachment | undefined;
}

/** The links of one side, with what is on them. */
export interface Side {
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
  /** Names for the indexes that links and routes mention. */
  readonly names: ReadonlyMap<number, string>;
}

/** Where to look. */
export interface ViewSources {
  readonly host: KernelSession;
  readonly container: KernelSession | undefined;
  readonly cached: readonly CachedAttachment[];
  readonly reservations: readonly NetworkReservation[];
}

/** Looks. */
export async function viewAttachment(
  attachment: ListedAttachment,
  sources: ViewSources,
): Promise<AttachmentView> {
  const { host, container, cached, reservations } = sources;
  const id = { ...attachment, ifName: attachment.ifName ?? '' };
  const isMine = (each: {
    readonly network: string;
    readonly containerID: string;
    readonly ifName?: string;
  }) =>
    each.network === id.network &&
    each.containerID === id.containerID &&
    (each.ifName ?? id.ifName) === id.ifName;
  const cache = cached.find(isMine);
  const inside = container && (await sideOf(container, ({ name }) => name === id.ifName));
  // The two ends of a veth name each other; one alone could be a number that means something else here.
  const isPeer = ({ kind, index, parent }: Link) =>
    kind === 'veth' && (inside?.links ?? []).some((each) => each.parent === index && each.index === parent);
  const named = hostInterfaces(cache);
  return {
    attachment,
    container: inside,
    host: await sideOf(host, (link) => isOwn(id, link) || isPeer(link) || named.has(link.name)),
    nftables: await ownedRuleset(host, (comment) => {
      const owner = parseOwnerComment(comment);
      return owner !== undefined && tagKey(owner.tag) === tagKey(ownerTag(id));
    }),
    reservations: reservations.filter(isMine),
    cache,
  };
}

/** The types of the plugins that ADD ran, as the cached configuration names them. */
export function cachedPlugins({ config }: CachedAttachment): readonly string[] {
  const json = parseOrNothing(config);
  if (json === undefined) return [];
  const plugins = Array.isArray(json['plugins']) ? (json['plugins'] as readonly unknown[]) : [json];
  return plugins.flatMap((plugin) => {
    const type = isJsonObject(plugin) ? plugin['type'] : undefined;
    return typeof type === 'string' ? [type] : [];
  });
}

async function sideOf(session: KernelSession, isWanted: (link: Link) => boolean): Promise<Side> {
  const all = await session.links.list();
  const links = all.filter(isWanted);
  const indexes = new Set(links.map(({ index }) => index));
  const addresses = (await session.addresses.list()).filter(({ link }) => indexes.has(link));
  const routes = (await session.routes.list()).filter((route) => isShown(route, indexes));
  return { links, addresses, routes, names: new Map(all.map(({ index, name }) => [index, name])) };
}

/** The local table only repeats the addresses. */
function isShown({ link, nexthops = [], table }: Route, indexes: ReadonlySet<number>): boolean {
  if (table === LOCAL_TABLE) return false;
  return (link !== undefined && indexes.has(link)) || nexthops.some((hop) => indexes.has(hop.link));
}

/** linux/rtnetlink.h, RT_TABLE_LOCAL */
const LOCAL_TABLE = 255;

function isOwn(id: AttachmentId, { alias }: Link): boolean {
  const tag = aliasTag(alias);
  return tag !== undefined && tagKey(tag) === tagKey(ownerTag(id));
}

/** What the result says is on the host's side: the link, and the bridge that it is a port of. */
function hostInterfaces(cache: CachedAttachment | undefined): ReadonlySet<string> {
  const interfaces = cache?.result?.['interfaces'];
  const entries: readonly unknown[] = Array.isArray(interfaces) ? interfaces : [];
  return new Set(
    entries.flatMap((entry) => {
      if (!isJsonObject(entry)) return [];
      const { name, sandbox } = entry;
      return typeof name === 'string' && (sandbox === undefined || sandbox === '') ? [name] : [];
    }),
  );
}

function parseOrNothing(config: Uint8Array): JsonObject | undefined {
  try {
    const json = parseJson(config);
    return isJsonObject(json) ? json : undefined;
  } catch {
    // Another program's cache entry; what it holds is shown as far as it goes.
    return undefined;
  }
}
