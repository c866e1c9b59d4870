import type { KernelSession } from '@heddle/netlink';
import type { Store } from '@heddle/store';
import type { Clock } from './clock.ts';
import type { Membership } from './cluster/membership.ts';
import type { RoutingProblem, RoutingStatus } from './status.ts';

/** What a router works with. */
export interface RouterOptions {
  readonly membership: Membership;
  readonly store: Store;
  /** The node's own network namespace. */
  readonly session: KernelSession;
  /** How often all of the kernel is compared, in seconds; 60 by default. What changes is told by the kernel anyhow. */
  readonly resyncSeconds?: number;
  /** For how long a node that is missing keeps its routes, in seconds; 15 by default. */
  readonly holdSeconds?: number;
  readonly clock?: Clock;
  readonly onEvent?: (event: RouterEvent) => void;
}

/** What a router tells of. */
export type RouterEvent =
  /** The kernel was made as it should be: how many messages it took. */
  | { readonly kind: 'applied'; readonly changes: number; readonly repaired: boolean }
  | { readonly kind: 'problem'; readonly problem: RoutingProblem }
  | { readonly kind: 'solved'; readonly subject: string };

/** Keeps the kernel's routes to other nodes as they should be. Its disposal leaves the kernel as it is. */
export interface Router extends AsyncDisposable {
  status(): RoutingStatus;
  /** Compares all of the kernel now, and repairs it. */
  resync(): Promise<void>;
  /** The MTU for a pod with addresses from these pools, in bytes; the underlay's for none. */
  podMtu(...pools: readonly string[]): number;
}
