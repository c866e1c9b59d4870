/** RTM_NEWNEIGH, RTM_DELNEIGH, RTM_GETNEIGH of AF_BRIDGE — net/bridge/br_fdb.c, drivers/net/vxlan/vxlan_core.c */

import { NLM_F } from '../../core/header.ts';
import type { Reply } from '../../core/message.ts';
import { NTF, NUD } from '../../neighbour/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import type { LinkRecord } from '../link/record.ts';
import { describeEntry, dropEntry, type FdbRecord, isSame, macOf, putEntry } from './fdb.ts';

/** Makes an entry, or changes it, in the table of a port's bridge or in a VXLAN's own. */
export function addEntry(namespace: Namespace, message: FdbRecord, flags: number): void {
  const link = checked(namespace, message);
  for (const wanted of targets(link, message)) addTo(namespace, link, wanted, flags);
}

/** Deletes an entry. */
export function deleteEntry(namespace: Namespace, message: FdbRecord): void {
  const link = checked(namespace, message);
  for (const wanted of targets(link, message)) {
    const found = namespace.fdb.filter((each) => isSame(each, wanted) && isRemote(each, wanted));
    if (found.length === 0) refuse('ENOENT');
    for (const entry of found) dropEntry(namespace, entry);
  }
}

/** Lists entries: of a link, of a bridge's ports, or all. */
export function listEntries(namespace: Namespace, { attributes }: FdbRecord): Reply[] {
  const { ifindex, master } = attributes;
  return namespace.fdb
    .filter((entry) => ifindex === undefined || entry.index === ifindex)
    .filter((entry) => master === undefined || entry.attributes.master === master)
    .map((entry) => describeEntry(entry));
}

function addTo(namespace: Namespace, link: LinkRecord, wanted: FdbRecord, flags: number): void {
  const kin = namespace.fdb.filter((each) => isSame(each, wanted));
  if (link.kind === 'vxlan' && wanted.attributes.master === undefined) {
    addRemote(namespace, kin, wanted, flags);
    return;
  }
  const [old] = kin;
  if (old === undefined) {
    if ((flags & NLM_F.CREATE) === 0) refuse('ENOENT');
    putEntry(namespace, wanted);
  } else if ((flags & NLM_F.EXCL) !== 0) {
    refuse('EEXIST');
  } else {
    putEntry(namespace, wanted, old);
  }
}

/** A VXLAN may know several remote ends of an address. */
function addRemote(namespace: Namespace, kin: readonly FdbRecord[], wanted: FdbRecord, flags: number): void {
  if (kin.length === 0) {
    if ((flags & NLM_F.CREATE) === 0) refuse('ENOENT');
    putEntry(namespace, wanted);
    return;
  }
  if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
  if ((flags & NLM_F.APPEND) !== 0) {
    if (kin.some((each) => isRemote(each, wanted))) refuse('EEXIST');
    putEntry(namespace, wanted);
    return;
  }
  const [old, ...others] = kin;
  for (const each of others) dropEntry(namespace, each);
  putEntry(namespace, wanted, old);
}

/** The entries that a request comes to: one for each table, in bridges one for each VLAN of the port. */
function targets(link: LinkRecord, message: FdbRecord): FdbRecord[] {
  const found: FdbRecord[] = [];
  const { master: _, ...attributes } = message.attributes;
  const flags = message.flags & ~(NTF.MASTER | NTF.SELF);
  if ((message.flags & NTF.MASTER) !== 0) {
    if (link.master === undefined || link.port === undefined) refuse('EOPNOTSUPP');
    const entry = { ...message, flags, attributes: { ...attributes, master: link.master } };
    const vlans =
      attributes.vlan === undefined ? [undefined, ...link.vlans.map(({ id }) => id)] : [attributes.vlan];
    if (attributes.vlan !== undefined && !link.vlans.some(({ id }) => id === attributes.vlan))
      refuse('EINVAL');
    for (const vlan of vlans) {
      found.push(vlan === undefined ? entry : { ...entry, attributes: { ...entry.attributes, vlan } });
    }
  }
  if ((message.flags & NTF.SELF) !== 0) {
    if (link.kind !== 'vxlan')
      refuse('EOPNOTSUPP', 'the fake kernel has forwarding entries of their own in VXLANs only');
    if (attributes.dst === undefined && message.state !== NUD.NOARP) refuse('EINVAL');
    const { vni, port, ...rest } = attributes;
    const isOther = vni !== undefined && vni !== link.data?.vxlan?.id;
    const isElsewhere = port !== undefined && port !== link.data?.vxlan?.port;
    found.push({
      ...message,
      flags: flags | NTF.SELF,
      attributes: { ...rest, ...(isOther && { vni }), ...(isElsewhere && { port }) },
    });
  }
  return found;
}

function isRemote(entry: FdbRecord, { attributes: wanted }: FdbRecord): boolean {
  const { attributes: a } = entry;
  return (
    String(wanted.dst) === String(a.dst) &&
    wanted.vni === a.vni &&
    wanted.port === a.port &&
    wanted.ifindex === a.ifindex
  );
}

function checked(namespace: Namespace, message: FdbRecord): LinkRecord {
  const link = namespace.links.get(message.index) ?? refuse('ENODEV', 'unknown ifindex');
  const mac = macOf(message);
  if (message.attributes.linkAddress === undefined || mac.length !== 6) refuse('EINVAL', 'invalid address');
  const isGroup = ((mac[0] ?? 0) & 1) !== 0;
  const isZero = mac.every((byte) => byte === 0);
  if (isGroup || (isZero && link.kind !== 'vxlan')) refuse('EINVAL');
  return link;
}
