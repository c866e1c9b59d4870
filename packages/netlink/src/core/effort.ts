/** How long the kernel is at requests. */
import { decode } from '@heddle/wire';
import { NETLINK, NLM_F, nlmsghdr } from './header.ts';
import { RTM } from './rtm.ts';

/**
 * `brief`: some tens of microseconds. `queued`: the same, when nobody in the kernel changes links at the moment. `long`:
 * many times as much, for it makes or takes away what packets go through, or lists what there may be thousands of.
 */
export type Effort = 'brief' | 'queued' | 'long';

/** What a request takes, by the first of its messages. */
export function effortOf(protocol: number, request: Uint8Array): Effort {
  const { type, flags } = decode(nlmsghdr, request);
  if (protocol === NETLINK.NETFILTER) return type >> 8 === CONNTRACK ? 'long' : 'brief';
  if (LONG.has(type)) return 'long';
  return type === RTM.GETLINK && (flags & NLM_F.DUMP) === NLM_F.DUMP ? 'long' : 'queued';
}

/** NFNL_SUBSYS_CTNETLINK: connections. */
const CONNTRACK = 1;

const LONG: ReadonlySet<number> = new Set([
  RTM.NEWLINK,
  RTM.DELLINK,
  RTM.NEWQDISC,
  RTM.DELQDISC,
  RTM.DELTFILTER,
]);
