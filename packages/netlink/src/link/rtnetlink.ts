import { ErrorList } from '@heddle/errors';
import { encode } from '@heddle/wire';
import { type Change, type LinkRef, labelOf } from '../core/change.ts';
import type { NetlinkClient } from '../core/client.ts';
import { type Message, readReply } from '../core/message.ts';
import { NetlinkError } from '../core/netlink-error.ts';
import { type Answer, messageOf, type Outcomes, outcomeOf, type Step } from '../core/query.ts';
import { RTM } from '../core/rtm.ts';
import { refOf } from './changes.ts';
import { linkMessage } from './codec.ts';
import { RTEXT_FILTER } from './fields.ts';
import { type Link, linkOf } from './link.ts';

/** Carries out a request to delete a link. */
export type DeleteLink = (message: Message) => Promise<void>;

/** NETLINK_ROUTE with names: what all its objects are read and changed through. */
export class Rtnetlink {
  readonly client: NetlinkClient;
  readonly #deleteLink: DeleteLink | undefined;

  /** @param deleteLink how to delete a link otherwise than by a request that is waited for */
  constructor(client: NetlinkClient, deleteLink?: DeleteLink) {
    this.client = client;
    this.#deleteLink = deleteLink;
  }

  /** Makes one change. */
  async apply(change: Change): Promise<void> {
    const message = change(this.indexOf);
    await this.client.request(message instanceof Promise ? await message : message);
  }

  /** Deletes links. */
  async deleteLink(change: Change): Promise<void> {
    if (this.#deleteLink === undefined) await this.apply(change);
    else await this.#deleteLink(await change(this.indexOf));
  }

  /** Makes changes and asks questions with one send. */
  async together<const S extends readonly Step[]>(steps: S): Promise<Outcomes<S>> {
    const messages = await this.#messagesOf(steps.map(messageOf));
    const answers = await this.client.answers(messages);
    const problems: unknown[] = [];
    const outcomes = steps.map((step, index) => {
      try {
        return outcomeOf(step, answers[index] as Answer);
      } catch (error) {
        problems.push(error);
        return undefined;
      }
    });
    ErrorList.throwIfAny(`${problems.length} of ${steps.length} requests`, problems);
    return outcomes as Outcomes<S>;
  }

  /** Makes several changes with one send. */
  async batch(changes: readonly Change[]): Promise<void> {
    await this.client.batch(await this.#messagesOf(changes));
  }

  #messagesOf(changes: readonly Change[]): readonly Message[] | Promise<Message[]> {
    let isWaiting = false;
    const messages = changes.map((change) => {
      let message: Message | Promise<Message>;
      try {
        message = change(this.indexOf);
      } catch (error) {
        // Another one may be waiting already, and must not fail unheard.
        message = Promise.reject(error);
      }
      isWaiting ||= message instanceof Promise;
      return message;
    });
    return isWaiting ? Promise.all(messages) : (messages as readonly Message[]);
  }

  /**
   * The link of that index or name.
   *
   * @throws {NetlinkError} ENODEV when there is none
   */
  async link(ref: LinkRef): Promise<Link> {
    const message = getLink(ref);
    const [reply] = await this.client.request(message);
    if (reply === undefined) throw new NetlinkError(message.operation, ENODEV);
    return linkOf(readReply(linkMessage, reply));
  }

  /** A link's index; an index is taken as it is. */
  readonly indexOf = (ref: LinkRef): number | Promise<number> => {
    return typeof ref === 'number' ? ref : this.link(ref).then(({ index }) => index);
  };
}

/** The request that reads a link. */
export function getLink(ref: LinkRef): Message {
  const { index, attributes } = refOf(ref);
  const body = encode(linkMessage, {
    index,
    attributes: { ...attributes, extMask: RTEXT_FILTER.SKIP_STATS },
  });
  return { type: RTM.GETLINK, body, operation: `get link ${labelOf(ref)}` };
}

const ENODEV = 19;
