import type { Labels, Member } from '@heddle/ipam/blocks';
import type { KernelSession } from '@heddle/netlink';
import type { Store } from '@heddle/store';
import type { OwnNode } from '../calculate/view.ts';
import type { Clock } from '../clock.ts';
import type { Underlay, UnderlayOptions } from '../underlay/underlay.ts';
import type { NodeRecord } from './records.ts';

/** How to join. */
export interface JoinOptions {
  readonly store: Store;
  /** The node's own network namespace: where its underlay is. */
  readonly session: KernelSession;
  /** No other node has it: letters, digits, dashes, dots, underscores, at most 253. */
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
  /**
   * Puts into the store what a node that was removed has lost, each time that the node's entry was not there. Nothing can
   * be taken by {@link Membership.member} until it is done, only by the one that is handed in; where it fails the node
   * has not joined, and it is tried again. It is told what others know of the node, too.
   */
  readonly restore?: (member: Member, own: OwnNode) => Promise<void>;
  readonly onEvent?: (event: MembershipEvent) => void;
}

/** What happens to a node's membership, and to others' that it sees to. */
export type MembershipEvent =
  /** The store does not answer, or not as it should. */
  | { readonly kind: 'away'; readonly reason: string }
  /** The store answers again, and the node's entry has been there all the time. */
  | { readonly kind: 'back' }
  /**
   * The node's entry was gone, and is there again. When the node was `removed` in between, it had no addresses; those that
   * {@link JoinOptions.restore} took it has again.
   */
  | { readonly kind: 'rejoined'; readonly removed: boolean }
  /** Another machine has the name; it is tried again from time to time. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Another node is gone, or everything was taken from it. */
  | { readonly kind: 'gone' | 'removed'; readonly node: string }
  /** Something about other nodes could not be done; it is tried again. */
  | { readonly kind: 'troubled'; readonly what: string; readonly reason: string };

/** How a node's membership is. */
export type MembershipState =
  | { readonly kind: 'joined' }
  /** The store does not answer, or another machine has the name; since then, in milliseconds since the epoch. */
  | { readonly kind: 'away' | 'refused'; readonly since: number; readonly reason: string }
  | { readonly kind: 'left' };

/** A node's place in the cluster. Its disposal ends what keeps it alive, but leaves its entry to its lease. */
export interface Membership extends AsyncDisposable {
  readonly name: string;
  /** Who takes addresses. Its `presence` follows the node's entry, so keep this object and not a copy of it. */
  readonly member: Member;
  /** What the others are told. */
  readonly record: NodeRecord;
  readonly state: MembershipState;
  /** What chose the underlay. */
  readonly underlayOptions: UnderlayOptions;
  /** As it was last looked at. */
  readonly underlay: Underlay;
  /** Tells the others something else, now or as soon as the store answers. */
  announce(news: { readonly underlay?: Underlay; readonly tunnel?: NodeRecord['tunnel'] }): void;
  /**
   * Leaves for good: the node's entry goes, and all its addresses are given back. Pods that still have them must be
   * gone, or will be.
   *
   * @throws {StoreError} as the store does; it can be called again
   */
  leave(): Promise<void>;
}
