/** The neighbours of a namespace: their messages, and telling of them. */
import { encode } from '@heddle/wire';
import { afOf } from '../../core/family.ts';
import type { Reply } from '../../core/message.ts';
import { RTM } from '../../core/rtm.ts';
import { NTF, neighbourMessage } from '../../neighbour/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import type { NeighbourRecord } from './record.ts';

/** Whether it is an entry that this host answers for. */
export function isProxy({ flags }: NeighbourRecord): boolean {
  return (flags & NTF.PROXY) !== 0;
}

/** Puts a neighbour in the place of the one with its address, and tells of it. */
export function putNeighbour(
  namespace: Namespace,
  entry: NeighbourRecord,
  old: NeighbourRecord | undefined,
): void {
  namespace.neighbours =
    old === undefined
      ? [...namespace.neighbours, entry]
      : namespace.neighbours.map((each) => (each === old ? entry : each));
  if (!isProxy(entry)) publish(namespace, entry, RTM.NEWNEIGH);
}

/** Takes a neighbour away, and tells of it. */
export function dropNeighbour(namespace: Namespace, entry: NeighbourRecord): void {
  namespace.neighbours = namespace.neighbours.filter((each) => each !== entry);
  if (!isProxy(entry)) publish(namespace, entry, RTM.DELNEIGH);
}

/** A link went down: nothing is known of its neighbours any more. Proxy entries stay as long as the link does. */
export function dropNeighbours(namespace: Namespace, link: number, { proxies = false } = {}): void {
  for (const entry of namespace.neighbours) {
    if (entry.link === link && (proxies || !isProxy(entry))) dropNeighbour(namespace, entry);
  }
}

/** The message that describes a neighbour. */
export function describeNeighbour(entry: NeighbourRecord, type: number = RTM.NEWNEIGH): Reply {
  const { address, mac, state, flags, protocol } = entry;
  const body = encode(neighbourMessage, {
    family: afOf(address.family),
    index: entry.link,
    state,
    flags,
    type: RTN_UNICAST,
    attributes: {
      dst: address,
      ...(mac && { linkAddress: mac }),
      ...(protocol !== undefined && { protocol }),
    },
  });
  return { type, flags: 0, body };
}

function publish(namespace: Namespace, entry: NeighbourRecord, type: number): void {
  namespace.notifier.publish('neighbour', describeNeighbour(entry, type));
}

/** What the kernel says of entries that are no proxies. */
const RTN_UNICAST = 1;
