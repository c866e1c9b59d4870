/** A machine of a cluster that runs nothing of Heddle: all that its nodes know of it stands in the store. */
import { allocateAddresses } from '@heddle/ipam/blocks';
import { type Addr, Mac, type Prefix } from '@heddle/netaddr';
import { memberCodec, NODE_KEYS, nodeCodec } from '@heddle/routing';
import type { Store } from '@heddle/store';

/** What is to be said of it. */
export interface ForeignNode {
  readonly name: string;
  /** Its addresses between nodes, with the prefix of the segment. */
  readonly underlay: readonly Prefix[];
  /** Of its overlay device. */
  readonly mac: string;
  /** One of each family. */
  readonly tunnel: readonly Addr[];
}

/** Takes an address of each family for it, and with the first ones blocks. */
export async function takeAddresses(store: Store, node: string, handle: string): Promise<readonly Addr[]> {
  const taken = await allocateAddresses({ store, node, now: Date.now }, { handle, families: [4, 6] });
  return taken.map(({ address: { addr } }) => addr);
}

/** Enters it in the store, as a node that lives. */
export async function enterNode(store: Store, { name, underlay, mac, tunnel }: ForeignNode): Promise<void> {
  const lease = await store.grantLease(3600);
  const record = {
    ...{ name, instance: name, underlay, mtu: 1500, labels: {} },
    ...{ tunnel: { mac: Mac.parse(mac), addresses: tunnel }, version: 'none', since: Date.now() },
  };
  const joined = { name, instance: name, joined: Date.now() };
  await store.commit({
    changes: [
      { put: NODE_KEYS.node(name), value: nodeCodec.encode(record), lease: lease.id },
      { put: NODE_KEYS.member(name), value: memberCodec.encode(joined) },
    ],
  });
}
