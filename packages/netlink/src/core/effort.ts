/** How long the kernel is at requests. */
import { windowOf } from '@heddle/wire';
import { NETLINK, NLM_F, nlmsghdr } from './header.ts';
import { RTM } from './rtm.ts';

/**
 * `brief`: some tens of microseconds. `queued`: the same, when nobody in the kernel changes links at the moment. `long`:
 * many times as much, for it makes or takes away what packets go through, or lists what there may be thousands of.
 */
export type Effort = 'brief' | 'queued' | 'long';

/** What a request takes, by the first of its messages. */
export function effortOf(protocol: number, request: Uint8Array): Effort {
  const window = windowOf(request);
  const type = TYPE.read(window, 0, request.length);
  if (protocol === NETLINK.NETFILTER) return type >> 8 === CONNTRACK ? 'long' : 'brief';
  if (LONG.has(type)) return 'long';
  if (type !== RTM.GETLINK) return 'queued';
  return (FLAGS.read(window, 0, request.length) & NLM_F.DUMP) === NLM_F.DUMP ? 'long' : 'queued';
}

const TYPE = nlmsghdr.field('type');
const FLAGS = nlmsghdr.field('flags');

/** NFNL_SUBSYS_CTNETLINK: connections. */
const CONNTRACK = 1;

const LONG: ReadonlySet<number> = new Set([
  RTM.NEWLINK,
  RTM.DELLINK,
  RTM.NEWQDISC,
  RTM.DELQDISC,
  RTM.DELTFILTER,
]);
