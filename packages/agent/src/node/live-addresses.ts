/** The addresses that the node's pods use, as its routes show it, and the taking of them again where the store lost them. */
import { aliasTag, ownerTag, parseOwnerAlias, tagKey } from '@heddle/cni/plugin';
import {
  KEYS,
  listHandles,
  type Member,
  poolCodec,
  releaseHandle,
  retakeAddresses,
} from '@heddle/ipam/blocks';
import { attachmentHandle, attachmentOf } from '@heddle/ipam/cluster';
import type { Addr } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';

/** An address that a pod of this node uses, and that is not its own. */
export interface Clash {
  /** The host's end of the pod's link, by its alias: the clash ends with it. */
  readonly alias: string;
  /** In words for people. */
  readonly pod: string;
  readonly addr: Addr;
  readonly why: string;
}

/** What came of it. */
export interface Restored {
  readonly taken: readonly Addr[];
  readonly clashes: readonly Clash[];
}

interface Live {
  readonly alias: string;
  readonly tag: string;
  readonly addresses: readonly Addr[];
}

/**
 * Takes the addresses of all pods that are on the node, where they stand in nobody's name: the node was removed from the
 * cluster, and is back. Where they stand in somebody else's, it says so and leaves them there.
 *
 * @param member of the node, by which nobody else can take anything yet
 * @throws {IpamError} IPAM_NODE_LOST, IPAM_BUSY
 * @throws {StoreError} as the store does
 */
export async function restoreAddresses(member: Member, host: KernelSession): Promise<Restored> {
  const handles = new Map<string, readonly Addr[]>();
  for (const { value } of await listHandles(member)) {
    const attachment = attachmentOf(value.handle);
    if (attachment === undefined) continue;
    handles.set(
      tagKey(ownerTag(attachment)),
      value.addresses.map(({ addr }) => addr),
    );
  }
  const taken: Addr[] = [];
  const clashes: Clash[] = [];
  const changed = new Map<string, string>();
  for (const { alias, tag, addresses } of await liveAddresses(host)) {
    const held = handles.get(tag) ?? [];
    const lost = addresses.filter((addr) => !held.some((each) => each.equals(addr)));
    if (lost.length === 0) continue;
    const owner = parseOwnerAlias(alias);
    if (owner === undefined) {
      clashes.push(...(await nameless(member, alias, lost)));
      continue;
    }
    const { podNamespace = '', podName } = owner;
    const pod = podName === undefined ? undefined : `${podNamespace}/${podName}`;
    const handle = attachmentHandle(owner);
    const outcome = await retakeAddresses(member, {
      ...{ handle, addresses: lost },
      ...(pod !== undefined && { pod }),
    });
    taken.push(...outcome.taken);
    if (outcome.taken.length > 0) changed.set(handle, alias);
    const name = pod === undefined ? `container ${owner.containerID}` : `pod ${pod}`;
    clashes.push(...outcome.refused.map(({ addr, why }) => ({ alias, pod: name, addr, why })));
  }
  // An agent before this one may have taken a pod down meanwhile: the link first, and then what it had.
  const aliases = await aliasesOf(host);
  for (const [handle, alias] of changed) if (!aliases.has(alias)) await releaseHandle(member, handle);
  return { taken, clashes };
}

/** Names that were too long for the alias are not known any more, so nothing can be taken in them. */
async function nameless({ store }: Member, alias: string, addresses: readonly Addr[]): Promise<Clash[]> {
  const pools = (await store.list(KEYS.pools)).entries.map((entry) => poolCodec.decode(entry));
  return addresses
    .filter((addr) => pools.some(({ cidr }) => cidr.contains(addr)))
    .map((addr) => ({
      ...{ alias, addr, pod: `the container of the link with alias ${alias}` },
      why: 'its names are too long to be read from there, so it cannot be taken for it again',
    }));
}

/** Those whose pod is still there. */
export async function clashesLeft(clashes: readonly Clash[], host: KernelSession): Promise<readonly Clash[]> {
  if (clashes.length === 0) return clashes;
  const aliases = await aliasesOf(host);
  return clashes.filter(({ alias }) => aliases.has(alias));
}

async function aliasesOf(host: KernelSession): Promise<ReadonlySet<string | undefined>> {
  return new Set((await host.links.list()).map(({ alias }) => alias));
}

/** By the routes of the main table to single addresses, over links that name their attachment. */
async function liveAddresses(host: KernelSession): Promise<readonly Live[]> {
  const routes = await host.routes.list({ table: MAIN_TABLE });
  const byLink = Map.groupBy(
    // The kernel's own lead to addresses of the host.
    routes.filter(
      ({ dst, type, protocol }) => dst.isSingle && type === 'unicast' && protocol !== RTPROT_KERNEL,
    ),
    ({ link }) => link,
  );
  return (await host.links.list()).flatMap(({ index, alias }) => {
    const tag = aliasTag(alias);
    const addresses = byLink.get(index)?.map(({ dst }) => dst.addr) ?? [];
    return alias === undefined || tag === undefined || addresses.length === 0
      ? []
      : [{ alias, tag: tagKey(tag), addresses }];
  });
}

/** linux/rtnetlink.h */
const RTPROT_KERNEL = 2;
/** RT_TABLE_MAIN; linux/rtnetlink.h */
const MAIN_TABLE = 254;
