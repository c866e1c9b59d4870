/**
 * An interface in a namespace, as the client needs it. Nothing is kept open between calls, so a namespace goes when
 * its container does; each call opens it anew by its path, and makes sure that it is still the same.
 */
import { type Addr, Mac } from '@heddle/netaddr';
import { type KernelSession, type Link, openSession } from '@heddle/netlink';
import { AF, type NetnsHandle, netnsCookie, openNetns, SOCK, SysError, socket } from '@heddle/sys';
import type { Channel, Clock, LinkChannel, NetworkInterface } from '../client/ports.ts';
import { DhcpError } from '../dhcp-error.ts';
import { openAddressChannel } from './address-channel.ts';
import { openLinkChannel } from './link-channel.ts';

/** Which interface: enough to find it again, and to notice when it is another one. */
export interface Place {
  /** A path of the namespace. */
  readonly netns: string;
  /** What tells the namespace from every other since the machine started. */
  readonly identity: string;
  readonly ifName: string;
  /** The link's number, which stays, unlike its name. */
  readonly index: number;
}

/**
 * Finds out which interface a name means now.
 *
 * @throws {DhcpError} DHCP_INTERFACE_GONE when there is none; DHCP_INTERFACE_UNFIT when it is no Ethernet
 */
export async function locate(netns: string, ifName: string): Promise<Place> {
  using handle = open(netns);
  using session = openSession({ netns: handle });
  const link = await session.links.find(ifName);
  if (link === undefined) throw gone(`there is no interface ${ifName} in ${netns}`);
  if (link.type !== ARPHRD_ETHER || link.mac === undefined) {
    throw new DhcpError('DHCP_INTERFACE_UNFIT', `${ifName} in ${netns} has no hardware address of Ethernet`);
  }
  return { netns, identity: identityOf(handle), ifName, index: link.index };
}

/** The interface at a place. */
export class KernelInterface implements NetworkInterface {
  readonly #place: Place;
  readonly #clock: Clock;
  #link: Link | undefined;

  constructor(place: Place, clock: Clock) {
    this.#place = place;
    this.#clock = clock;
  }

  /** The one that it had when it was last looked at: somebody may change it. */
  get hardwareAddress(): Mac {
    return this.#link?.mac ?? Mac.ZERO;
  }

  /** True for links that share one hardware address, and are told apart by their IP addresses only. */
  get needsBroadcast(): boolean {
    return this.#link?.kind === 'ipvlan';
  }

  openLink(): Promise<LinkChannel> {
    return this.#visit(async ({ netns, link }) =>
      openLinkChannel({ netns, index: link.index, mac: this.hardwareAddress, clock: this.#clock }),
    );
  }

  openAddress(address: Addr): Promise<Channel> {
    return this.#visit(async ({ netns, link }) =>
      openAddressChannel({ netns, name: link.name, address, clock: this.#clock }),
    );
  }

  async check(): Promise<void> {
    await this.#visit(async () => {});
  }

  setUp(): Promise<void> {
    return this.#visit(async ({ session, link }) => {
      if (!link.up) await session.links.set(link.index, { up: true });
    });
  }

  setDown(): Promise<void> {
    return this.#visit(({ session, link }) => session.links.set(link.index, { up: false }));
  }

  async #visit<T>(act: (visit: Visit) => Promise<T>): Promise<T> {
    const { netns: path, identity, ifName, index } = this.#place;
    using netns = open(path);
    if (identityOf(netns) !== identity) throw gone(`${path} is another namespace now`);
    using session = openSession({ netns });
    const link = await session.links.find(index);
    if (link?.mac === undefined) throw gone(`the interface ${ifName} in ${path} is gone`);
    this.#link = link;
    return await act({ netns, session, link });
  }
}

interface Visit {
  readonly netns: NetnsHandle;
  readonly session: KernelSession;
  readonly link: Link;
}

/** linux/if_arp.h */
const ARPHRD_ETHER = 1;

/** The kernel gives inode numbers again, cookies never; kernels before 5.14 have no cookies. */
function identityOf(netns: NetnsHandle): string {
  using any = socket({ family: AF.INET, type: SOCK.DGRAM, netns });
  try {
    return `cookie ${netnsCookie(any)}`;
  } catch (error) {
    if (SysError.is(error, 'ENOPROTOOPT')) return `inode ${netns.key}`;
    throw error;
  }
}

function open(path: string): NetnsHandle {
  try {
    return openNetns(path);
  } catch (error) {
    // EINVAL: a plain file is what an unmounted namespace leaves behind.
    if (SysError.is(error, 'ENOENT', 'ENOTDIR', 'EINVAL')) throw gone(error.message, error);
    throw error;
  }
}

function gone(message: string, cause?: unknown): DhcpError {
  return new DhcpError('DHCP_INTERFACE_GONE', message, { cause });
}
