/** How the agent's part of a cluster is. */
import type { MembershipState, RoutingStatus } from '@heddle/routing';

/** Values as JSON has them: addresses, prefixes and the like become their text. */
export type AsJson<T> = T extends string | number | boolean | undefined
  ? T
  : T extends readonly (infer U)[]
    ? readonly AsJson<U>[]
    : T extends { toJSON(): infer J }
      ? J
      : { readonly [K in keyof T]: AsJson<T[K]> };

/** A block of the node, and how full it is. */
export interface NodeBlockStatus {
  readonly cidr: string;
  readonly pool: string;
  readonly held: number;
  /** Given back, and not given again. */
  readonly resting: number;
}

/** How far ahead of its need a node is, in the mode `cluster-pool`. */
export interface NodeReserveStatus {
  readonly family: 4 | 6;
  /** Addresses of the node's blocks that nobody holds. */
  readonly free: number;
  /** Whether these are fewer than the cluster's settings ask for. */
  readonly isBehind: boolean;
}

/** See the file's comment. */
export interface NodeStatus {
  readonly name: string;
  /** The store's URL. */
  readonly store: string;
  /** Where plugins ask for addresses. */
  readonly socket: string;
  /** Whether pods can have addresses now. */
  readonly ready: boolean;
  /** Why not, and what to do. */
  readonly reason?: string;
  readonly hint?: string;
  readonly membership: MembershipState['kind'] | 'joining';
  readonly blocks: readonly NodeBlockStatus[];
  /** Absent in other modes. */
  readonly ahead?: readonly NodeReserveStatus[];
  /** Attachments whose addresses are to be given back, and could not be yet. */
  readonly waitingReleases: number;
  /** Addresses that were given back because their attachment was proven to be gone. */
  readonly leaksReleased: number;
  /** Absent until the router runs. */
  readonly routing?: AsJson<RoutingStatus>;
}
