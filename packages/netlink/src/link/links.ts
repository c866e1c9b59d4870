import { decode, encode } from '@heddle/wire';
import type { LinkRef } from '../core/change.ts';
import { NetlinkError } from '../core/netlink-error.ts';
import { RTM } from '../core/rtm.ts';
import { addLink, deleteLink, deleteLinkGroup, type LinkChange, type LinkSpec, setLink } from './changes.ts';
import { linkMessage } from './codec.ts';
import { RTEXT_FILTER } from './fields.ts';
import { type Link, linkOf } from './link.ts';
import type { Rtnetlink } from './rtnetlink.ts';

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
      .map(({ body }) => linkOf(decode(linkMessage, body)))
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
