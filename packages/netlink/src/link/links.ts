import { encode } from '@heddle/wire';
import type { LinkRef } from '../core/change.ts';
import { AF } from '../core/family.ts';
import { NLM_F } from '../core/header.ts';
import { readReply } from '../core/message.ts';
import { NetlinkError } from '../core/netlink-error.ts';
import type { Query } from '../core/query.ts';
import { RTM } from '../core/rtm.ts';
import { addLink, deleteLink, deleteLinkGroup, type LinkChange, type LinkSpec, setLink } from './changes.ts';
import { linkMessage } from './codec.ts';
import { RTEXT_FILTER } from './fields.ts';
import { type Link, linkOf } from './link.ts';
import { getLink, type Rtnetlink } from './rtnetlink.ts';

/** Which links to list; all conditions must hold. */
export interface LinkFilter {
  readonly master?: LinkRef | undefined;
  readonly kind?: string | undefined;
  readonly names?: readonly string[] | undefined;
}

/** The network interfaces of a namespace: `ip link`. */
export class Links {
  /** Changes to be made later, with `batch`. */
  readonly plan = {
    add: addLink,
    set: setLink,
    delete: deleteLink,
    deleteGroup: deleteLinkGroup,
  } as const;
  /** Questions to be asked later, with `together`. */
  readonly ask = { get: askLink, find: askForLink } as const;
  readonly #kernel: Rtnetlink;

  constructor(kernel: Rtnetlink) {
    this.#kernel = kernel;
  }

  /** All links, or those that the filter asks for. */
  async list(filter: LinkFilter = {}): Promise<Link[]> {
    const master = filter.master === undefined ? undefined : await this.#kernel.indexOf(filter.master);
    const body = encode(linkMessage, {
      attributes: {
        extMask: RTEXT_FILTER.SKIP_STATS,
        master,
        linkInfo: filter.kind === undefined ? undefined : { kind: filter.kind },
      },
    });
    const replies = await this.#kernel.client.dump({ type: RTM.GETLINK, body, operation: 'list links' });
    // The kernel filters only by kinds that it knows, so what it gives is looked at again.
    return replies
      .map((reply) => linkOf(readReply(linkMessage, reply)))
      .filter((link) => master === undefined || link.master === master)
      .filter((link) => filter.kind === undefined || link.kind === filter.kind)
      .filter((link) => filter.names?.includes(link.name) ?? true);
  }

  /**
   * The link of that index or name.
   *
   * @example const { mac, mtu } = await session.links.get('eth0');
   * @throws {NetlinkError} ENODEV when there is none
   */
  get(ref: LinkRef): Promise<Link> {
    return this.#kernel.link(ref);
  }

  /** Like {@link get}, but `undefined` when there is none. */
  async find(ref: LinkRef): Promise<Link | undefined> {
    try {
      return await this.get(ref);
    } catch (error) {
      if (NetlinkError.is(error, 'ENODEV')) return undefined;
      throw error;
    }
  }

  /**
   * Makes a link, of a veth both ends, whichever namespaces they are to be in.
   *
   * @example
   * await host.links.add({
   *   name: 'veth0', kind: 'veth', master: 'br0', up: true,
   *   peer: { name: 'eth0', netns: pod.handle },
   * });
   * @throws {NetlinkError} EEXIST when a name is taken
   */
  add(spec: LinkSpec): Promise<void> {
    return this.#kernel.apply(addLink(spec));
  }

  /**
   * Makes a link in the session's namespace, and says what it is like when it has just been made: it has not joined
   * its master yet. Takes one request where the kernel tells that by itself, since 6.2.
   *
   * @throws {NetlinkError} EEXIST when a name is taken
   */
  async make(spec: LinkSpec & { readonly netns?: undefined }): Promise<Link> {
    const message = await addLink(spec)(this.#kernel.indexOf);
    const flags = (message.flags ?? 0) | NLM_F.ECHO;
    for (const reply of await this.#kernel.client.request({ ...message, flags })) {
      const isLink = reply.type === RTM.NEWLINK && reply.body[0] === AF.UNSPEC;
      const link = isLink ? linkOf(readReply(linkMessage, reply)) : undefined;
      if (link?.name === spec.name) return link;
    }
    return this.get(spec.name);
  }

  /**
   * Changes a link.
   *
   * @example await session.links.set('eth0', { mtu: 1450, up: true });
   * @throws {NetlinkError} ENODEV when there is none
   */
  set(ref: LinkRef, change: LinkChange): Promise<void> {
    return this.#kernel.apply(setLink(ref, change));
  }

  /**
   * Deletes a link; with one end of a veth goes the other.
   *
   * @throws {NetlinkError} ENODEV when there is none
   */
  delete(ref: LinkRef): Promise<void> {
    return this.#kernel.deleteLink(deleteLink(ref));
  }

  /**
   * Deletes all links of a group, at once and far faster than one by one.
   *
   * @throws {NetlinkError} ENODEV when there is none
   */
  deleteGroup(group: number): Promise<void> {
    return this.#kernel.apply(deleteLinkGroup(group));
  }
}

/** The question for a link. */
function askLink(ref: LinkRef): Query<Link> {
  const message = getLink(ref);
  return {
    message: () => message,
    read({ replies: [reply], error }) {
      if (reply === undefined) throw error ?? new NetlinkError(message.operation, ENODEV);
      return linkOf(readReply(linkMessage, reply));
    },
  };
}

/** The same where it may not be there. */
function askForLink(ref: LinkRef): Query<Link | undefined> {
  const question = askLink(ref);
  return {
    message: question.message,
    read: (answer) => (NetlinkError.is(answer.error, 'ENODEV') ? undefined : question.read(answer)),
  };
}

const ENODEV = 19;
