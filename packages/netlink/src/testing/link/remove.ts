/** Taking links away: deleting them, and moving them to another namespace. */
import { RTM } from '../../core/rtm.ts';
import { dropAddress } from '../address/store.ts';
import { dropEntry } from '../bridge/fdb.ts';
import { leaveMaster } from '../bridge/membership.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import { dropNeighbours } from '../neighbour/store.ts';
import { removeHops } from '../route/store.ts';
import { dropTraffic } from '../tc/store.ts';
import { setUp } from './admin.ts';
import { describeLink } from './describe.ts';
import { findLink, linkAt, linksAbove, membersOf } from './find.ts';
import { kindOfLink } from './kinds.ts';
import { freeName } from './names.ts';
import type { LinkAt, LinkRecord } from './record.ts';

/** Deletes a link, with the other end of a veth and with everything that sits on it. */
export function deleteLink(namespace: Namespace, index: number): void {
  const link = namespace.links.get(index);
  if (link === undefined) return;
  const above = linksAbove(namespace, link);
  const peer = link.kind === 'veth' ? link.lower : undefined;
  for (const at of above) deleteLink(at.namespace, at.index);
  strip(namespace, link);
  namespace.links.delete(index);
  namespace.settings.removeLink(index);
  namespace.notifier.publish(
    'link',
    describeLink(namespace, { ...link, up: false, operstate: 'down' }, RTM.DELLINK),
  );
  if (peer !== undefined && linkAt(peer)?.lower?.index === index) deleteLink(peer.namespace, peer.index);
}

/** Moves a link to another namespace: it is down there, and has lost its addresses and its bridge. */
export function moveLink(from: Namespace, index: number, to: Namespace, name: string | undefined): number {
  const link = from.links.get(index) ?? refuse('ENODEV');
  if (to === from) return index;
  if (kindOfLink(link).immovable) refuse('EINVAL', 'The interface netns is immutable');
  const wanted = name ?? link.name;
  if (findLink(to, { name: wanted }) !== undefined) refuse('EEXIST');
  strip(from, link);
  from.links.delete(index);
  from.notifier.publish('link', describeLink(from, { ...link, up: false }, RTM.DELLINK));
  const settled = from.settings;
  const place = to.links.has(index) ? to.nextIndex() : index;
  const { master: _master, port: _port, ...rest } = link;
  const moved: LinkRecord = {
    ...rest,
    index: place,
    name: freeName(to, wanted),
    up: false,
    ipv6Ready: false,
    vlans: [],
    operstate: 'down',
    carrier: link.carrier && link.kind !== 'veth',
  };
  settled.removeLink(index);
  to.links.set(place, moved);
  to.settings.addLink(place);
  redirect(from, index, { namespace: to, index: place });
  to.notifier.publish('link', describeLink(to, moved));
  return place;
}

/** Takes everything away that belongs to a link. */
function strip(namespace: Namespace, { index }: LinkRecord): void {
  setUp(namespace, index, false);
  leaveMaster(namespace, index);
  for (const member of membersOf(namespace, index)) leaveMaster(namespace, member.index);
  for (const address of namespace.addresses) if (address.link === index) dropAddress(namespace, address);
  for (const family of [4, 6] as const) removeHops(namespace, family, index, false);
  dropNeighbours(namespace, index, { proxies: true });
  for (const entry of namespace.fdb) if (entry.index === index) dropEntry(namespace, entry);
  dropTraffic(namespace, index);
}

/** Those that refer to a link learn where it is now. */
function redirect(from: Namespace, index: number, to: LinkAt): void {
  for (const namespace of from.machine.namespaces.values()) {
    for (const link of namespace.links.values()) {
      if (link.lower?.namespace !== from || link.lower.index !== index) continue;
      namespace.links.set(link.index, { ...link, lower: to });
    }
  }
}
