/** The VLANs of ports and bridges — net/bridge/br_vlan.c */
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import { membersOf } from '../link/find.ts';
import type { LinkRecord, VlanRecord } from '../link/record.ts';
import { addPortEntries, dropEntry } from './fdb.ts';

/** Puts a port, or a bridge itself, into a VLAN, or changes how it is in it. */
export function joinVlan(namespace: Namespace, index: number, vlan: VlanRecord): void {
  if (vlan.id < 1 || vlan.id > MAX_ID) refuse('EINVAL');
  const link = namespace.links.get(index) ?? refuse('ENODEV');
  const others = link.vlans.filter(({ id }) => id !== vlan.id);
  // There is one VLAN for untagged frames.
  const rest = vlan.pvid ? others.map((each) => ({ ...each, pvid: false })) : others;
  const vlans = [...rest, vlan].toSorted((a, b) => a.id - b.id);
  const joined = { ...link, vlans };
  namespace.links.set(index, joined);
  if (joined.port !== undefined) addPortEntries(namespace, joined);
}

/** Takes a port, or a bridge itself, out of a VLAN; one that it is not in is fine. */
export function leaveVlan(namespace: Namespace, index: number, id: number): void {
  const link = namespace.links.get(index) ?? refuse('ENODEV');
  namespace.links.set(index, { ...link, vlans: link.vlans.filter((each) => each.id !== id) });
  for (const entry of namespace.fdb) {
    if (entry.index === index && entry.attributes.vlan === id) dropEntry(namespace, entry);
  }
}

/** A bridge's default VLAN is another one now: those that were in the old one by default are in the new one. */
export function joinDefaultVlan(namespace: Namespace, bridge: number, before: number, after: number): void {
  const self = namespace.links.get(bridge);
  const links: LinkRecord[] = [...(self === undefined ? [] : [self]), ...membersOf(namespace, bridge)];
  for (const { index, vlans } of links) {
    const old = vlans.find(({ id }) => id === before);
    if (before > 0 && (old === undefined || !old.pvid || !old.untagged)) continue;
    if (before > 0) leaveVlan(namespace, index, before);
    if (after > 0) joinVlan(namespace, index, { id: after, pvid: true, untagged: true });
  }
}

const MAX_ID = 4094;
