/** RTM_NEWNEIGH, RTM_DELNEIGH, RTM_GETNEIGH; those of AF_BRIDGE are about forwarding entries — net/core/neighbour.c */
import { decode } from '@heddle/wire';
import { AF, familyOf } from '../../core/family.ts';
import { NLM_F } from '../../core/header.ts';
import { RTM } from '../../core/rtm.ts';
import { type NeighbourMessage, NTF, NUD, neighbourMessage } from '../../neighbour/codec.ts';
import { addEntry, deleteEntry, listEntries } from '../bridge/fdb-requests.ts';
import type { Handlers } from '../core/handler.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, refuseUnknown } from '../core/refusal.ts';
import type { NeighbourRecord } from './record.ts';
import { describeNeighbour, dropNeighbour, isProxy, putNeighbour } from './store.ts';

/** What the tables of neighbours and forwarding entries do. */
export const neighbourHandlers: readonly (readonly [number, Handlers])[] = [
  [
    RTM.NEWNEIGH,
    {
      change(namespace, { flags, body }) {
        const message = read(body);
        if (message.family === AF.BRIDGE) addEntry(namespace, message, flags);
        else addNeighbour(namespace, message, flags);
        return undefined;
      },
    },
  ],
  [
    RTM.DELNEIGH,
    {
      change(namespace, { body }) {
        const message = read(body);
        if (message.family === AF.BRIDGE) deleteEntry(namespace, message);
        else deleteNeighbour(namespace, message);
        return undefined;
      },
    },
  ],
  [
    RTM.GETNEIGH,
    {
      dump(namespace, { body }) {
        const message = read(body);
        if (message.family === AF.BRIDGE) return listEntries(namespace, message);
        return listNeighbours(namespace, message).map((entry) => describeNeighbour(entry));
      },
    },
  ],
];

function addNeighbour(namespace: Namespace, message: NeighbourMessage, flags: number): void {
  const { index, attributes: a } = message;
  const address = addressOf(message);
  const link = namespace.links.get(index) ?? refuse('ENODEV');
  const wanted = {
    link: index,
    address,
    flags: message.flags,
    state: message.state,
    ...(a.linkAddress && { mac: a.linkAddress }),
    ...(a.protocol !== undefined && { protocol: a.protocol }),
  };
  const old = find(namespace, wanted);
  if (isProxy(wanted)) {
    if (old !== undefined && (flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
    putNeighbour(namespace, { ...wanted, state: 0 }, old);
    return;
  }
  if (a.linkAddress !== undefined && a.linkAddress.length < link.address.length)
    refuse('EINVAL', 'Invalid link address');
  if (old === undefined) {
    if ((flags & NLM_F.CREATE) === 0) refuse('ENOENT');
    if ((message.state & VALID) !== 0 && a.linkAddress === undefined) {
      refuse('EINVAL', 'No link layer address given');
    }
    if (!link.up && (message.state & NUD.PERMANENT) === 0) refuse('ENETDOWN');
  } else if ((flags & NLM_F.EXCL) !== 0) {
    refuse('EEXIST');
  }
  const { mac = old?.mac, protocol = old?.protocol } = wanted;
  putNeighbour(
    namespace,
    { ...wanted, ...(mac && { mac }), ...(protocol !== undefined && { protocol }) },
    old,
  );
}

/** NUD_VALID but for those that need no address. */
const VALID = NUD.PERMANENT | NUD.REACHABLE | NUD.STALE | NUD.DELAY | NUD.PROBE;

function deleteNeighbour(namespace: Namespace, message: NeighbourMessage): void {
  const address = addressOf(message);
  if (!namespace.links.has(message.index)) refuse('ENODEV');
  const found = find(namespace, { link: message.index, address, flags: message.flags, state: 0 });
  if (found === undefined) refuse('ENOENT');
  dropNeighbour(namespace, found);
}

function find(namespace: Namespace, wanted: NeighbourRecord): NeighbourRecord | undefined {
  return namespace.neighbours.find(
    (each) =>
      each.link === wanted.link && each.address.equals(wanted.address) && isProxy(each) === isProxy(wanted),
  );
}

function addressOf({ family, attributes }: NeighbourMessage) {
  const { dst } = attributes;
  if (dst === undefined) refuse('EINVAL', 'Network address not specified');
  if (familyOf(family) !== dst.family) refuse('EINVAL', 'Invalid network address');
  return dst;
}

function listNeighbours(namespace: Namespace, message: NeighbourMessage): readonly NeighbourRecord[] {
  const family = familyOf(message.family);
  const proxies = (message.flags & NTF.PROXY) !== 0;
  const { ifindex } = message.attributes;
  return namespace.neighbours.filter(
    (each) =>
      (family === undefined || each.address.family === family) &&
      isProxy(each) === proxies &&
      (ifindex === undefined || each.link === ifindex),
  );
}

function read(body: Uint8Array): NeighbourMessage {
  const message = decode(neighbourMessage, body);
  refuseUnknown('NDA', message);
  return message;
}
