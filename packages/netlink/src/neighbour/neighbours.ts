import { decode, encode } from '@heddle/wire';
import type { LinkRef } from '../core/change.ts';
import { afOf, type Family } from '../core/family.ts';
import { RTM } from '../core/rtm.ts';
import type { Rtnetlink } from '../link/rtnetlink.ts';
import { NTF, neighbourMessage } from './codec.ts';
import {
  addNeighbour,
  deleteNeighbour,
  type Neighbour,
  type NeighbourKey,
  type NeighbourSpec,
  neighbourOf,
  replaceNeighbour,
} from './neighbour.ts';

/** Which neighbours to list. */
export interface NeighbourFilter {
  readonly link?: LinkRef | undefined;
  readonly family?: Family | undefined;
  /** The entries that this host answers for, in place of those that it asks for. */
  readonly proxy?: boolean | undefined;
}

/** The ARP and NDP tables of a namespace: `ip neighbour`. */
export class Neighbours {
  /** Changes to be made later, with `batch`. */
  readonly plan = { add: addNeighbour, replace: replaceNeighbour, delete: deleteNeighbour } as const;
  readonly #kernel: Rtnetlink;

  constructor(kernel: Rtnetlink) {
    this.#kernel = kernel;
  }

  /** All neighbours, or those of a link or family. */
  async list(filter: NeighbourFilter = {}): Promise<Neighbour[]> {
    const { family, proxy = false } = filter;
    const index = filter.link === undefined ? undefined : await this.#kernel.indexOf(filter.link);
    const found: Neighbour[] = [];
    // Asked for "any family", the kernel adds the forwarding tables of all bridges.
    for (const each of family === undefined ? ([4, 6] as const) : [family]) {
      const body = encode(neighbourMessage, {
        family: afOf(each),
        flags: proxy ? NTF.PROXY : 0,
        attributes: { ifindex: index },
      });
      const operation = `list IPv${each} neighbours`;
      const replies = await this.#kernel.client.dump({ type: RTM.GETNEIGH, body, operation });
      for (const reply of replies) {
        const neighbour = neighbourOf(decode(neighbourMessage, reply.body));
        if (neighbour === undefined || neighbour.address.family !== each) continue;
        if (neighbour.proxy === proxy && (index === undefined || neighbour.link === index))
          found.push(neighbour);
      }
    }
    return found;
  }

  /**
   * Makes a neighbour.
   *
   * @throws {NetlinkError} EEXIST when the link has one with this address
   */
  add(spec: NeighbourSpec): Promise<void> {
    return this.#kernel.apply(addNeighbour(spec));
  }

  /** Makes a neighbour, or changes the one with this address. */
  replace(spec: NeighbourSpec): Promise<void> {
    return this.#kernel.apply(replaceNeighbour(spec));
  }

  /**
   * Deletes a neighbour.
   *
   * @throws {NetlinkError} ENOENT when the link has none with this address
   */
  delete(key: NeighbourKey): Promise<void> {
    return this.#kernel.apply(deleteNeighbour(key));
  }
}
