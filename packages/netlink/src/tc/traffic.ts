/** Traffic control of a namespace: `tc`. */
import { decode, encode } from '@heddle/wire';
import type { LinkRef } from '../core/change.ts';
import { readReply } from '../core/message.ts';
import { RTM } from '../core/rtm.ts';
import type { Rtnetlink } from '../link/rtnetlink.ts';
import {
  addClass,
  classOf,
  deleteClass,
  replaceClass,
  type TrafficClass,
  type TrafficClassKey,
  type TrafficClassSpec,
} from './class.ts';
import { classMessage, filterMessage, qdiscMessage, tcmsg } from './codec.ts';
import {
  addFilter,
  deleteFilter,
  filterOf,
  type TrafficFilter,
  type TrafficFilterKey,
  type TrafficFilterSpec,
} from './filter.ts';
import {
  addQdisc,
  deleteQdisc,
  type Qdisc,
  type QdiscKey,
  type QdiscSpec,
  qdiscOf,
  replaceQdisc,
} from './qdisc.ts';

const TCM_IFINDEX = tcmsg.field('index');

/** Queueing disciplines: `tc qdisc`. */
export class Qdiscs {
  /** Changes to be made later, with `batch`. */
  readonly plan = { add: addQdisc, replace: replaceQdisc, delete: deleteQdisc } as const;
  readonly #kernel: Rtnetlink;

  constructor(kernel: Rtnetlink) {
    this.#kernel = kernel;
  }

  /** The disciplines of a link, or of all. */
  async list(filter: { readonly link?: LinkRef | undefined } = {}): Promise<Qdisc[]> {
    const index = filter.link === undefined ? undefined : await this.#kernel.indexOf(filter.link);
    const body = encode(qdiscMessage, {});
    const replies = await this.#kernel.client.dump({ type: RTM.GETQDISC, body, operation: 'list qdiscs' });
    // The kernel tells of all links: of the others no more is read than which they are.
    const own =
      index === undefined ? replies : replies.filter((reply) => readReply(TCM_IFINDEX, reply) === index);
    return own.map((reply) => qdiscOf(readReply(qdiscMessage, reply)));
  }

  /**
   * Makes a discipline.
   *
   * @example
   * const rate = 1_000_000 / 8;
   * await session.qdiscs.add({ link: 'eth0', kind: 'tbf', handle: tcHandle(1), rate, buffer: burstTicks(4096, rate), limit: 8192 });
   * @throws {NetlinkError} EEXIST when there is one at its place
   */
  add(spec: QdiscSpec): Promise<void> {
    return this.#kernel.apply(addQdisc(spec));
  }

  /** Makes a discipline in place of the one that is there. */
  replace(spec: QdiscSpec): Promise<void> {
    return this.#kernel.apply(replaceQdisc(spec));
  }

  /**
   * Deletes a discipline, with its classes and filters.
   *
   * @throws {NetlinkError} ENOENT when there is none
   */
  delete(key: QdiscKey): Promise<void> {
    return this.#kernel.apply(deleteQdisc(key));
  }
}

/** Classes of disciplines: `tc class`. */
export class TrafficClasses {
  /** Changes to be made later, with `batch`. */
  readonly plan = { add: addClass, replace: replaceClass, delete: deleteClass } as const;
  readonly #kernel: Rtnetlink;

  constructor(kernel: Rtnetlink) {
    this.#kernel = kernel;
  }

  /** The classes of a link's disciplines. */
  async list({ link }: { readonly link: LinkRef }): Promise<TrafficClass[]> {
    const body = encode(classMessage, { index: await this.#kernel.indexOf(link) });
    const replies = await this.#kernel.client.dump({ type: RTM.GETTCLASS, body, operation: 'list classes' });
    return replies.map(({ body }) => classOf(decode(classMessage, body)));
  }

  /**
   * Makes a class.
   *
   * @throws {NetlinkError} EEXIST when there is one with its handle
   */
  add(spec: TrafficClassSpec): Promise<void> {
    return this.#kernel.apply(addClass(spec));
  }

  /** Makes a class, or changes the one with its handle. */
  replace(spec: TrafficClassSpec): Promise<void> {
    return this.#kernel.apply(replaceClass(spec));
  }

  /**
   * Deletes a class.
   *
   * @throws {NetlinkError} ENOENT when there is none
   */
  delete(key: TrafficClassKey): Promise<void> {
    return this.#kernel.apply(deleteClass(key));
  }
}

/** Filters of disciplines: `tc filter`. */
export class TrafficFilters {
  /** Changes to be made later, with `batch`. */
  readonly plan = { add: addFilter, delete: deleteFilter } as const;
  readonly #kernel: Rtnetlink;

  constructor(kernel: Rtnetlink) {
    this.#kernel = kernel;
  }

  /** The filters at a place of a link: its root discipline, or the parent that is given. */
  async list(filter: {
    readonly link: LinkRef;
    readonly parent?: number | undefined;
  }): Promise<TrafficFilter[]> {
    const { link, parent } = filter;
    const body = encode(filterMessage, { index: await this.#kernel.indexOf(link), parent });
    const replies = await this.#kernel.client.dump({ type: RTM.GETTFILTER, body, operation: 'list filters' });
    return replies
      .map(({ body }) => filterOf(decode(filterMessage, body)))
      .filter((each) => each !== undefined);
  }

  /**
   * Makes a filter.
   *
   * @example
   * // What comes in by eth0 leaves by ifb0.
   * await session.filters.add({
   *   link: 'eth0', parent: tcHandle(0xffff), priority: 1, kind: 'u32', classId: tcHandle(1, 1),
   *   actions: [{ kind: 'mirred', how: 'egress-redirect', link: ifb.index }],
   * });
   */
  add(spec: TrafficFilterSpec): Promise<void> {
    return this.#kernel.apply(addFilter(spec));
  }

  /**
   * Deletes filters.
   *
   * @throws {NetlinkError} ENOENT or EINVAL when there is none
   */
  delete(key: TrafficFilterKey): Promise<void> {
    return this.#kernel.apply(deleteFilter(key));
  }
}
