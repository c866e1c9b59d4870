/** How the network of a node is, for people and programs. */
import type { Encapsulation, Overlay } from '@heddle/ipam/blocks';
import type { Addr, Mac, Prefix } from '@heddle/netaddr';

/** Something that is not as it should be, and why. */
export interface RoutingProblem {
  /** What: `link heddle-vxlan`, `route 10.244.1.0/26`, `node n7`. */
  readonly subject: string;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** How often it was tried; 0 for what trying does not mend. */
  readonly attempts: number;
}

/** An overlay device. */
export interface DeviceStatus {
  readonly name: string;
  readonly overlay: Overlay;
  /** In bytes: of what goes through it. */
  readonly mtu: number;
  readonly mac?: Mac;
  readonly addresses: readonly Addr[];
}

/** How packets get to a node. */
export type PathStatus =
  | { readonly kind: 'direct'; readonly gateway: Addr }
  | { readonly kind: 'overlay'; readonly device: string; readonly remote: Addr }
  /** Not by us: routers of the network know the way, or there is none. */
  | { readonly kind: 'none'; readonly reason: string };

/** Another node. */
export interface PeerStatus {
  readonly name: string;
  readonly underlay: readonly Prefix[];
  /** Its blocks, each with the way there. */
  readonly blocks: readonly { readonly cidr: Prefix; readonly path: PathStatus }[];
  /** When something about it last changed, in milliseconds since the epoch. */
  readonly lastChange: number;
  /** Whether its entry is missing, and its routes are kept for a moment all the same. */
  readonly missing: boolean;
}

/** A pool, as pods of this node meet it. */
export interface PoolStatus {
  readonly name: string;
  readonly cidr: Prefix;
  readonly encapsulation: Encapsulation;
  readonly overlay: Overlay;
  /** For pods, in bytes. */
  readonly mtu: number;
  readonly natOutgoing: boolean;
}

/** See the file's comment. */
export interface RoutingStatus {
  readonly node: string;
  readonly underlay: readonly { readonly link: string; readonly address: Prefix }[];
  /** In bytes. */
  readonly underlayMtu: number;
  readonly devices: readonly DeviceStatus[];
  readonly pools: readonly PoolStatus[];
  /** This node's own. */
  readonly blocks: readonly Prefix[];
  readonly peers: readonly PeerStatus[];
  /** Empty when all is as desired. */
  readonly problems: readonly RoutingProblem[];
  /** Why the store is not followed, and since when; absent while it is. */
  readonly storeAway?: { readonly since: number; readonly reason: string };
  /** When all of the kernel was last compared, in milliseconds since the epoch. */
  readonly lastResync?: number;
}
