/** Connection tracking in a network namespace — conntrack(8), linux/netfilter/nfnetlink_conntrack.h */
import { ErrorList } from '@heddle/errors';
import { encode } from '@heddle/wire';
import type { NetlinkClient } from '../core/client.ts';
import type { Message } from '../core/message.ts';
import { NetlinkError } from '../core/netlink-error.ts';
import { ctnetlinkType, flowMessage, IPCTNL_MSG } from './codec.ts';
import {
  decodeFlow,
  type Flow,
  type FlowFilter,
  type FlowTuple,
  filterAttributes,
  keyAttributes,
  matches,
} from './flow.ts';

/**
 * The tracked connections of one network namespace.
 *
 * @example
 * // Forget UDP flows that were set up before a port was published.
 * await conntrack.deleteMatching(() => true, { family: 4, protocol: 17, original: { dport: 53 } });
 */
export class Conntrack {
  readonly #client: NetlinkClient;

  /** @param client a client of NETLINK_NETFILTER */
  constructor(client: NetlinkClient) {
    this.#client = client;
  }

  /** The flows that the filter chooses. The kernel applies what it can of it. */
  async list(filter: FlowFilter = {}): Promise<readonly Flow[]> {
    const family = filter.family === undefined ? 'unspec' : familyName(filter.family);
    const replies = await this.#client.dump({
      type: ctnetlinkType(IPCTNL_MSG.GET),
      body: encode(flowMessage, { family, attributes: filterAttributes(filter) }),
      operation: 'list flows',
    });
    return replies.flatMap((reply) => {
      const flow = decodeFlow(reply.body);
      return flow !== undefined && matches(flow, filter) ? [flow] : [];
    });
  }

  /**
   * Forgets a flow: this very one, not a later one with the same addresses.
   *
   * @throws {NetlinkError} `ENOENT` when it is gone already
   */
  async delete(flow: Flow): Promise<void> {
    await this.#client.request(deletion(flow));
  }

  /**
   * Forgets all flows that the filter chooses and `isWanted` agrees to; says how many. One that ends
   * meanwhile by itself is not counted.
   *
   * @throws {NetlinkError} for a flow that could not be deleted, an `ErrorList` when there are several
   */
  async deleteMatching(isWanted: (flow: Flow) => boolean, filter: FlowFilter = {}): Promise<number> {
    const flows = (await this.list(filter)).filter(isWanted);
    const problems = await this.#client.batch(flows.map(deletion)).then(() => [], errorsOf);
    const gone = problems.filter((problem) => NetlinkError.is(problem, 'ENOENT'));
    ErrorList.throwIfAny(
      'delete flows',
      problems.filter((problem) => !gone.includes(problem)),
    );
    return flows.length - gone.length;
  }
}

function deletion(flow: Flow): Message {
  return {
    type: ctnetlinkType(IPCTNL_MSG.DELETE),
    body: encode(flowMessage, { family: familyName(flow.family), attributes: keyAttributes(flow) }),
    operation: `delete flow ${flow.protocol} ${endpoint(flow.original, 's')} to ${endpoint(flow.original, 'd')}`,
  };
}

function endpoint({ src, dst, sport, dport }: FlowTuple, side: 's' | 'd'): string {
  const [addr, port] = side === 's' ? [src, sport] : [dst, dport];
  const text = addr.family === 6 && port !== undefined ? `[${addr}]` : `${addr}`;
  return port === undefined ? text : `${text}:${port}`;
}

function familyName(family: 4 | 6): 'ip' | 'ip6' {
  return family === 4 ? 'ip' : 'ip6';
}

function errorsOf(error: unknown): readonly unknown[] {
  return error instanceof ErrorList ? error.errors : [error];
}
