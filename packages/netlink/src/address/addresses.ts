import type { Addr } from '@heddle/netaddr';
import { encode } from '@heddle/wire';
import { type LinkRef, labelOf } from '../core/change.ts';
import { afOf, type Family } from '../core/family.ts';
import { NLM_F } from '../core/header.ts';
import { type Message, type Reply, readReply } from '../core/message.ts';
import type { Query } from '../core/query.ts';
import { RTM } from '../core/rtm.ts';
import type { Rtnetlink } from '../link/rtnetlink.ts';
import {
  type Address,
  type AddressKey,
  type AddressSpec,
  addAddress,
  addressOf,
  deleteAddress,
  replaceAddress,
} from './address.ts';
import { addressMessage } from './codec.ts';

/** Which addresses to list. */
export interface AddressFilter {
  readonly link?: LinkRef | undefined;
  readonly family?: Family | undefined;
}

/** The addresses of the links of a namespace: `ip address`. */
export class Addresses {
  /** Changes to be made later, with `batch`. */
  readonly plan = { add: addAddress, replace: replaceAddress, delete: deleteAddress } as const;
  /** Questions to be asked later, with `together`. */
  readonly ask = { list: askAddresses } as const;
  readonly #kernel: Rtnetlink;

  constructor(kernel: Rtnetlink) {
    this.#kernel = kernel;
  }

  /** All addresses, or those of a link or family. */
  async list(filter: AddressFilter = {}): Promise<Address[]> {
    const index = filter.link === undefined ? 0 : await this.#kernel.indexOf(filter.link);
    return addressesIn(await this.#kernel.client.dump(getAddresses(index, filter.family)), index);
  }

  /**
   * The IPv6 multicast groups that a link takes packets for, the solicited-node groups of its addresses included:
   * an address can be found by its neighbours once its group is here.
   */
  async groups(link: LinkRef): Promise<Addr[]> {
    const index = await this.#kernel.indexOf(link);
    const body = encode(addressMessage, { family: afOf(6), index });
    const operation = `list multicast groups of ${labelOf(link)}`;
    const replies = await this.#kernel.client.dump({ type: RTM.GETMULTICAST, body, operation });
    return replies
      .map((reply) => readReply(addressMessage, reply))
      .filter((message) => message.index === index)
      .flatMap(({ attributes: { multicast } }) => multicast ?? []);
  }

  /**
   * Adds an address.
   *
   * @example
   * await session.addresses.add({ link: 'eth0', prefix: Prefix.parse('10.1.0.2/24'), broadcast: 'auto' });
   * @throws {NetlinkError} EEXIST when the link has it
   */
  add(spec: AddressSpec): Promise<void> {
    return this.#kernel.apply(addAddress(spec));
  }

  /** Adds an address, or changes the lifetimes and flags of the one that is there. */
  replace(spec: AddressSpec): Promise<void> {
    return this.#kernel.apply(replaceAddress(spec));
  }

  /**
   * Deletes an address.
   *
   * @throws {NetlinkError} EADDRNOTAVAIL when the link does not have it
   */
  delete(key: AddressKey): Promise<void> {
    return this.#kernel.apply(deleteAddress(key));
  }
}

/**
 * The question for the addresses of a link: a dump, so the last of its send. `undefined` when they changed while they
 * were listed; then they have to be listed anew.
 *
 * @param link its index
 */
function askAddresses(link: number): Query<readonly Address[] | undefined> {
  return {
    message: () => ({ ...getAddresses(link), flags: NLM_F.DUMP }),
    read({ replies, error, interrupted }) {
      if (error !== undefined) throw error;
      return interrupted ? undefined : addressesIn(replies, link);
    },
  };
}

function getAddresses(index: number, family?: Family): Message {
  const body = encode(addressMessage, { family: afOf(family), index });
  return { type: RTM.GETADDR, body, operation: 'list addresses' };
}

function addressesIn(replies: readonly Reply[], index: number): Address[] {
  return replies
    .map((reply) => addressOf(readReply(addressMessage, reply)))
    .filter((address) => address !== undefined)
    .filter((address) => index === 0 || address.link === index);
}
