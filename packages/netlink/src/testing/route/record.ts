import type { Addr, Prefix } from '@heddle/netaddr';
import type { Family } from '../../core/family.ts';
import type { RouteMetrics } from '../../route/codec.ts';
import type { RouteType } from '../../route/route.ts';

/** A route of the fake kernel. A change makes another record. */
export interface RouteRecord {
  readonly family: Family;
  readonly dst: Prefix;
  readonly src?: Prefix;
  readonly table: number;
  readonly tos: number;
  readonly protocol: number;
  readonly scope: number;
  readonly type: RouteType;
  /** 0 for none. */
  readonly metric: number;
  /** None for routes that drop. */
  readonly hops: readonly HopRecord[];
  readonly source?: Addr;
  readonly metrics?: RouteMetrics;
  /** ICMPv6 router preference. */
  readonly preference?: number;
}

/** One way of a route. */
export interface HopRecord {
  readonly gateway?: Addr;
  /** A gateway of the other family. */
  readonly via?: Addr;
  /** Index. */
  readonly link: number;
  readonly weight: number;
  readonly onlink: boolean;
}
