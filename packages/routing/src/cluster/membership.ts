import type { Labels, Member } from '@heddle/ipam/blocks';
import type { KernelSession } from '@heddle/netlink';
import type { Store } from '@heddle/store';
import type { Clock } from '../clock.ts';
import type { Underlay, UnderlayOptions } from '../underlay/underlay.ts';
import type { NodeRecord } from './records.ts';

/** How to join. */
export interface JoinOptions {
  readonly store: Store;
  /** The node's own network namespace: where its underlay is. */
  readonly session: KernelSession;
  /** No other node has it. */
  readonly name: string;
  /** The machine's id: the same machine takes its entry over after a crash, another one is refused. */
  readonly instance: string;
  readonly labels?: Labels;
  /** Of the software, to be shown. */
  readonly version: string;
  readonly underlay?: UnderlayOptions;
  /** How long the node counts as alive after it was last heard of; 30 by default. */
  readonly leaseSeconds?: number;
  /** How long a node must be gone before its addresses are taken from it; 600 by default. */
  readonly graceSeconds?: number;
  readonly clock?: Clock;
  readonly onEvent?: (event: MembershipEvent) => void;
}

/** What happens to a node's membership, and to others' that it sees to. */
export type MembershipEvent =
  /** The store does not answer. */
  | { readonly kind: 'away'; readonly reason: string }
  /** The store answers again, and the node's entry has been there all the time. */
  | { readonly kind: 'back' }
  /**
   * The node's entry was gone, and is there again. When it was `removed` in between, others may have its pods'
   * addresses by now: take them anew.
   */
  | { readonly kind: 'rejoined'; readonly removed: boolean }
  /** Another machine has the name; it is tried again from time to time. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Another node is gone, was taken everything from, or this could not be done. */
  | { readonly kind: 'gone' | 'removed'; readonly node: string }
  | { readonly kind: 'troubled'; readonly what: string; readonly reason: string };

/** How a node's membership is. */
export type MembershipState =
  | { readonly kind: 'joined' }
  /** The store does not answer since then, milliseconds since the epoch. */
  | { readonly kind: 'away'; readonly since: number; readonly reason: string }
  | { readonly kind: 'refused'; readonly since: number; readonly reason: string }
  | { readonly kind: 'left' };

/** A node's place in the cluster. Its disposal ends what keeps it alive, but leaves its entry to its lease. */
export interface Membership extends AsyncDisposable {
  readonly name: string;
  /** Who takes addresses. Its `presence` follows the node's entry, so keep this object and not a copy of it. */
  readonly member: Member;
  /** What the others are told. */
  readonly record: NodeRecord;
  readonly underlay: Underlay;
  readonly state: MembershipState;
  /** Leaves for good: the entry goes, and with it the promise to come back. */
  leave(): Promise<void>;
}
