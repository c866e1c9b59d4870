/** What is known of the cluster, and what of it the calculation looks at. */
import type { Affinity, Pool } from '@heddle/ipam/blocks';
import type { Addr } from '@heddle/netaddr';
import type { NodeRecord } from '../cluster/records.ts';
import type { Underlay } from '../underlay/underlay.ts';

/** An address that a node holds in a block that is not its own. */
export interface Borrowed {
  readonly addr: Addr;
  readonly pool: string;
  /** The node where the address is. */
  readonly holder: string;
}

/** This node, as the calculation sees it. */
export interface OwnNode {
  readonly record: NodeRecord;
  readonly underlay: Underlay;
}

/** Everything that the routes of a node follow from. */
export interface ClusterView {
  readonly own: OwnNode;
  /** The other nodes. */
  readonly nodes: readonly NodeRecord[];
  readonly pools: readonly Pool[];
  /** Of all nodes. */
  readonly affinities: readonly Affinity[];
  readonly borrowed: readonly Borrowed[];
}
