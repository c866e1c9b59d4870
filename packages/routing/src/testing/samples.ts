/** Nodes and pools as tests of the calculation need them. */
import { type Pool, type PoolConfig, resolvePool } from '@heddle/ipam/blocks';
import { Addr, Prefix } from '@heddle/netaddr';
import type { OwnNode } from '../calculate/view.ts';
import type { NodeRecord } from '../cluster/records.ts';
import { tunnelMac } from '../cluster/tunnel.ts';

/** A node's record. */
export function sampleNode(
  name: string,
  underlay: readonly string[],
  more: { readonly mtu?: number; readonly tunnel?: readonly string[] } = {},
): NodeRecord {
  const { mtu = 1500, tunnel = [] } = more;
  return {
    ...{ name, instance: name, mtu, labels: {}, version: '1', since: 0 },
    underlay: underlay.map(Prefix.parse),
    tunnel: { mac: tunnelMac(name), addresses: tunnel.map(Addr.parse) },
  };
}

/** This node, whose underlay is on the links 2 and 3. */
export function sampleOwn(record: NodeRecord): OwnNode {
  const addresses = record.underlay.map((prefix, index) => ({
    ...{ prefix, link: index + 2, linkName: `eth${index}` },
  }));
  return { record, underlay: { addresses, mtu: record.mtu } };
}

/** A pool. */
export function samplePool(name: string, cidr: string, more: Partial<PoolConfig> = {}): Pool {
  return resolvePool({ name, cidr: Prefix.parse(cidr), ...more });
}
