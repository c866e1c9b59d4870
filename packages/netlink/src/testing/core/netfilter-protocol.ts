/** NETLINK_NETFILTER: batches of nf_tables are done as a whole, all else message by message. */
import type { Namespace } from './namespace.ts';
import { Refusal } from './refusal.ts';
import type { Interceptor } from './route-protocol.ts';
import type { Protocol } from './transport.ts';

/** The protocol as spoken to one namespace. */
export function netfilterProtocol(_namespace: Namespace, _intercept: Interceptor): Protocol {
  return (messages, replies) => {
    for (const message of messages) {
      replies.acknowledge(message, new Refusal('EOPNOTSUPP', 'the fake kernel has no nf_tables'));
    }
  };
}
