/**
 * Deletions of links, of all sessions of one namespace.
 *
 * Each ends with an RCU barrier, and the kernel is at one at a time. So links that are to go while a deletion is under
 * way are collected; more than a few are put into a group that is reserved for that, and deleted as the group, which
 * takes one barrier for all of them. Nobody waits for company: who comes when nothing is under way is deleted at once.
 *
 * Whoever else uses the group loses nothing: all links are looked at before, and where one carries it that is not to go,
 * they are deleted one by one. Putting into the group and deleting it is one send, so that nothing is left in it.
 */
import { attr, attrs, cstring, decode, encode, headed, u32 } from '@heddle/wire';
import { NetlinkClient } from '../core/client.ts';
import { NETLINK, NLM_F } from '../core/header.ts';
import type { Message } from '../core/message.ts';
import { NetlinkError } from '../core/netlink-error.ts';
import { RTM } from '../core/rtm.ts';
import { SocketTransport } from '../core/socket-transport.ts';
import {
  type AnnouncedDeletionOptions,
  type DeletionRequest,
  deleteAnnounced,
  wantedBy,
} from './announced-deletion.ts';
import { linkMessage } from './codec.ts';
import { ifinfomsg, RTEXT_FILTER } from './fields.ts';

/** How links are deleted. */
export interface RemovalOptions extends AnnouncedDeletionOptions {
  /** The group for links that go together, which nothing else may carry. */
  readonly group: number;
}

/** See the file's comment. One for all sessions of a namespace. */
export class LinkRemovals {
  readonly #options: RemovalOptions;
  readonly #waiting: Waiting[] = [];
  /** Deletions that the kernel is not through with, though their links are gone. */
  readonly #settling = new Set<Promise<void>>();
  #isBusy = false;

  constructor(options: RemovalOptions) {
    this.#options = options;
  }

  /** Whether the kernel is deleting links: who asks it for something about links now has to wait. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /**
   * Carries out a request to delete a link; ends when the link is gone.
   *
   * @throws {NetlinkError} when the kernel refuses
   */
  remove(message: Message): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const [index = 0] = wantedBy(message);
    this.#waiting.push({ message, index, resolve, reject });
    if (!this.#isBusy) void this.#work();
    return promise;
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      // Those who come while there is no room for another deletion go with the next one.
      await this.#room();
      await this.#removeAll(this.#waiting.splice(0, MOST_TOGETHER));
    }
    this.#isBusy = false;
  }

  /** Each caller is told its own outcome. */
  async #removeAll(all: readonly Waiting[]): Promise<void> {
    const left = new Set(all);
    for (const each of await this.#removeGroup(await this.#fitForGroup(all))) {
      left.delete(each);
      each.resolve();
    }
    for (const { message, resolve, reject } of left) {
      await this.#delete({ message, wanted: wantedBy(message) }).then(resolve, reject);
    }
  }

  /** Those that may go as a group; none where something else carries it. */
  async #fitForGroup(all: readonly Waiting[]): Promise<readonly Waiting[]> {
    // What has only a name may be another link by then, and of two who mean the same link one is late.
    const indexed = all.filter(({ index }) => index !== 0).toReversed();
    const going = new Map(indexed.map((each) => [each.index, each]));
    if (going.size < LEAST_TOGETHER) return [];
    const links = await this.#links();
    const isFree = links.every(({ index, group }) => group !== this.#options.group || going.has(index));
    if (!isFree) return [];
    // A group with a link in it that cannot be deleted, because it is of no kind, is refused as a whole.
    return links.flatMap(({ index, isOfKind }) => (isOfKind ? (going.get(index) ?? []) : []));
  }

  /** All links. One that stays is always among them, even if others come and go meanwhile: they are in order. */
  async #links(): Promise<readonly Seen[]> {
    const { netns } = this.#options;
    try {
      using client = new NetlinkClient(
        new SocketTransport({ protocol: NETLINK.ROUTE, netns, mode: 'threaded' }),
      );
      const [answer] = await client.answers([LIST]);
      if (answer?.error !== undefined) return [];
      return (answer?.replies ?? []).map(({ body }) => {
        const { index, attributes } = decode(seen, body);
        return { index, group: attributes.group, isOfKind: attributes.info?.kind !== undefined };
      });
    } catch {
      // One by one they can be deleted without having been looked at.
      return [];
    }
  }

  /** Those that went. */
  async #removeGroup(all: readonly Waiting[]): Promise<readonly Waiting[]> {
    if (all.length === 0) return [];
    const { group } = this.#options;
    const refused = new Set<Waiting>();
    try {
      await this.#delete({
        message: groupMessage(RTM.DELLINK, `delete ${all.length} links`, group),
        before: all.map(({ index }) => groupMessage(RTM.SETLINK, `group link #${index}`, group, index)),
        wanted: all.map(({ index }) => index),
        onRefused: (at) => refused.add(all[at] as Waiting),
      });
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      return [];
    }
    return all.filter((each) => !refused.has(each));
  }

  /** Ends when the links are gone. */
  async #delete(request: DeletionRequest): Promise<void> {
    await this.#room();
    const { gone, acknowledged } = deleteAnnounced(request, this.#options);
    const settled = acknowledged.finally(() => this.#settling.delete(settled));
    this.#settling.add(settled);
    await gone;
  }

  /** Waits until there is room for another deletion: each takes a thread until its end, and others need some too. */
  async #room(): Promise<void> {
    while (this.#settling.size >= MOST_SETTLING) await Promise.race(this.#settling);
  }
}

interface Waiting {
  readonly message: Message;
  /** 0: named otherwise. */
  readonly index: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** As much of a link as has to be known. */
interface Seen {
  readonly index: number;
  readonly group: number | undefined;
  readonly isOfKind: boolean;
}

const seen = headed(
  ifinfomsg,
  attrs('IFLA', { group: attr(27, u32), info: attr(18, attrs('IFLA_INFO', { kind: attr(1, cstring) })) }),
);

const LIST: Message = {
  type: RTM.GETLINK,
  flags: NLM_F.DUMP,
  body: encode(linkMessage, { attributes: { extMask: RTEXT_FILTER.SKIP_STATS } }),
  operation: 'list links',
};

function groupMessage(type: number, operation: string, group: number, index = 0): Message {
  return { type, operation, body: encode(linkMessage, { index, attributes: { group } }) };
}

/** Of the threads for requests. */
const MOST_SETTLING = 4;
const MOST_TOGETHER = 128;
/** To look at some hundred links costs as much as to delete a few. */
const LEAST_TOGETHER = 4;
