/** Forwarding entries of bridges and VXLANs — net/bridge/br_fdb.c, drivers/net/vxlan */
import { encode } from '@heddle/wire';
import { AF } from '../../core/family.ts';
import type { Reply } from '../../core/message.ts';
import { RTM } from '../../core/rtm.ts';
import { type NeighbourMessage, NUD, neighbourMessage } from '../../neighbour/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import type { LinkRecord } from '../link/record.ts';

/** A forwarding entry, as the message that lists it. */
export type FdbRecord = NeighbourMessage;

/** The entries of a port's own address, which come with it: one for no VLAN, one for each of its own. */
export function addPortEntries(namespace: Namespace, { index, address, master, vlans }: LinkRecord): void {
  for (const vlan of [undefined, ...vlans.map(({ id }) => id)]) {
    const entry = ownEntry(index, address, master, vlan);
    if (!namespace.fdb.some((each) => isSame(each, entry))) putEntry(namespace, entry);
  }
}

/** All entries of a port in its bridge's table. */
export function dropPortEntries(namespace: Namespace, { index }: LinkRecord): void {
  for (const entry of namespace.fdb) {
    if (entry.index === index && entry.attributes.master !== undefined) dropEntry(namespace, entry);
  }
}

/** A port's own address changed: its entries follow. */
export function refreshPortEntries(namespace: Namespace, before: LinkRecord, after: LinkRecord): void {
  const own = (entry: FdbRecord) =>
    entry.index === before.index &&
    entry.attributes.master !== undefined &&
    Buffer.compare(macOf(entry), before.address) === 0;
  for (const entry of namespace.fdb) if (own(entry)) dropEntry(namespace, entry);
  addPortEntries(namespace, after);
}

/** Adds an entry, or puts it in another's place, and tells of it. */
export function putEntry(namespace: Namespace, entry: FdbRecord, old?: FdbRecord): void {
  namespace.fdb =
    old === undefined
      ? [...namespace.fdb, entry]
      : namespace.fdb.map((each) => (each === old ? entry : each));
  publish(namespace, entry, RTM.NEWNEIGH);
}

/** Takes an entry away, and tells of it. */
export function dropEntry(namespace: Namespace, entry: FdbRecord): void {
  namespace.fdb = namespace.fdb.filter((each) => each !== entry);
  publish(namespace, entry, RTM.DELNEIGH);
}

/** The message that describes an entry. */
export function describeEntry(entry: FdbRecord, type: number = RTM.NEWNEIGH): Reply {
  return { type, flags: 0, body: encode(neighbourMessage, entry) };
}

/** Same address in the same table; of a VXLAN, also the same remote end. */
export function isSame(a: FdbRecord, b: FdbRecord): boolean {
  return (
    a.index === b.index &&
    a.attributes.master === b.attributes.master &&
    a.attributes.vlan === b.attributes.vlan &&
    a.attributes.sourceVni === b.attributes.sourceVni &&
    Buffer.compare(macOf(a), macOf(b)) === 0
  );
}

/** The MAC of an entry. */
export function macOf({ attributes }: FdbRecord): Uint8Array {
  return attributes.linkAddress ?? new Uint8Array(6);
}

function ownEntry(
  index: number,
  address: Uint8Array,
  master: number | undefined,
  vlan: number | undefined,
): FdbRecord {
  return {
    ...{ family: AF.BRIDGE, index, state: NUD.PERMANENT, flags: 0, type: 0 },
    attributes: {
      linkAddress: address,
      ...(vlan !== undefined && { vlan }),
      ...(master !== undefined && { master }),
    },
  };
}

function publish(namespace: Namespace, entry: FdbRecord, type: number): void {
  namespace.notifier.publish('neighbour', describeEntry(entry, type));
}
