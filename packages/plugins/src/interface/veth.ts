/**
 * Veth pairs: one end in the container under the name that the runtime chose, the other on the host under a
 * name that is derived from the attachment, so that whatever a process that died left behind has an owner.
 */
import { type AttachmentId, CNI_CODE, CniError } from '@heddle/cni';
import { type AddCall, hostLinkName, isAliasOf, type Random } from '@heddle/cni/plugin';
import { Mac } from '@heddle/netaddr';
import { type KernelSession, type Link, NetlinkError } from '@heddle/netlink';
import { trySysctls } from './ipv6.ts';

/** How to make a pair. */
export interface VethOptions {
  /** Of the container's end; a random one when left out. */
  readonly mac?: Mac | undefined;
  /** Of both ends; the kernel's default when left out or 0. */
  readonly mtu?: number | undefined;
  /** Index of the bridge that the host's end joins. */
  readonly master?: number | undefined;
  /**
   * Whether the host's end is up; true when left out. Who changes more about it does so before it is up: each change of a
   * link that is has the kernel walk all of the host's routes of IPv6.
   */
  readonly up?: boolean;
}

/** A pair. */
export interface VethPair {
  /** The end on the host. */
  readonly host: Link;
  /** Index of the container's end, in the container; down. */
  readonly containerIndex: number;
  /** Hardware address of the container's end. */
  readonly containerMac: Mac;
}

/**
 * Makes the pair, and registers its undo. One message makes both ends where they belong; the host's end is in its bridge,
 * and up unless told otherwise, from the start. Both hardware addresses are given, so that no daemon on the host replaces
 * them later.
 *
 * @throws {CniError} code 141 when the container has an interface of that name, or the pair's names stay taken
 * @throws {NetlinkError} for any other refusal
 */
export async function createVeth(call: AddCall<unknown>, options: VethOptions): Promise<VethPair> {
  const { host, container, ifName, undo } = call;
  const containerMac = options.mac ?? randomMac(call.random);
  const link = await makePair(call, { ...options, mac: containerMac });
  undo.push(`delete link ${link.name}`, () => host.links.delete(link.name));
  // Routers must not configure the host through a container's link.
  await trySysctls(host, { [`net/ipv6/conf/${link.name}/accept_ra`]: '0' });
  const containerIndex = link.parent ?? (await container.links.get(ifName)).index;
  return { host: link, containerIndex, containerMac };
}

/**
 * The host's end that an attachment has, by its name and alias; `undefined` when there is none. It is how an
 * end is found whose container is gone.
 */
export async function findHostEnd(host: KernelSession, attachment: AttachmentId): Promise<Link | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const link = await host.links.find(hostLinkName(attachment, attempt));
    if (link === undefined || isOwn(link, attachment)) return link;
  }
  return undefined;
}

/** A hardware address that no manufacturer gave: unicast, locally administered, else random. */
export function randomMac(random: Random): Mac {
  const bytes = Uint8Array.from(random.bytes(6));
  bytes[0] = ((bytes[0] ?? 0) & 0xfe) | 0x02;
  return Mac.fromBytes(bytes);
}

async function makePair(
  call: AddCall<unknown>,
  { mac, mtu, master, up = true }: VethOptions & { readonly mac: Mac },
): Promise<Link> {
  const { host, container, ifName, attachment, random } = call;
  const size = mtu === undefined || mtu === 0 ? {} : { mtu };
  let attempt = 0;
  for (let tries = 0; tries < ATTEMPTS; tries++) {
    const name = hostLinkName(attachment, attempt);
    try {
      return await host.links.make({
        name,
        kind: 'veth',
        up,
        mac: randomMac(random),
        master,
        ...size,
        ...QUEUES,
        peer: { name: ifName, netns: container.handle, mac, ...size, ...QUEUES },
      });
    } catch (error) {
      if (!NetlinkError.is(error, 'EEXIST')) throw error;
      if ((await container.links.find(ifName)) !== undefined) throw taken(ifName, name, error);
      if (!(await removeLeftover(call, name))) attempt++;
    }
  }
  throw taken(ifName, hostLinkName(attachment, attempt));
}

/**
 * Makes room for the host's end. What an ADD of the same attachment left that died is deleted, unless its
 * other end is in the container after all, under another name.
 *
 * @returns false when the name belongs to somebody else
 */
async function removeLeftover(call: AddCall<unknown>, name: string): Promise<boolean> {
  const { host, container, attachment, ifName } = call;
  const link = await host.links.find(name);
  if (link === undefined) return true;
  if (!isOwn(link, attachment)) return false;
  const peer = link.parent === undefined ? undefined : await container.links.find(link.parent);
  if (peer?.kind === 'veth' && peer.parent === link.index) throw taken(ifName, name);
  await host.links.delete(link.index);
  return true;
}

/** Without an alias the ADD died before it could set one; the name alone then tells. */
function isOwn(link: Link, attachment: AttachmentId): boolean {
  return link.kind === 'veth' && (link.alias === undefined || isAliasOf(attachment, link.alias));
}

function taken(ifName: string, hostName: string, cause?: unknown): CniError {
  const text = `container veth name (${JSON.stringify(ifName)}) peer provided (${JSON.stringify(hostName)}) already exists`;
  return new CniError(CNI_CODE.EXISTS, text, { cause });
}

const ATTEMPTS = 10;

/**
 * An end uses one queue. Of itself the kernel makes as many as there are processors and takes all but one out of use
 * again, each time after a grace period of RCU: most of what making a pair costs.
 */
const QUEUES = { queues: 1 } as const;
