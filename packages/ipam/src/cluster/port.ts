/** The port by which plugins get addresses of the cluster's pools: from the node's agent, in process or over its socket. */
import type { Addr, Prefix } from '@heddle/netaddr';

/** Whose addresses: an interface of a container on a network. */
export interface Attachment {
  readonly network: string;
  readonly containerID: string;
  readonly ifName: string;
}

/** What is to be taken for an attachment. */
export interface AddressRequest extends Attachment {
  /** One address of each; by default of each family that the pools have. */
  readonly families?: readonly (4 | 6)[];
  /** Addresses that are wanted, at most one of a family. */
  readonly addresses?: readonly Addr[];
  /** The names of the pools to take from; all that are for the node by default. */
  readonly pools?: readonly string[];
  /** The pod, where it is known: for whoever looks at what is taken. */
  readonly podNamespace?: string;
  readonly podName?: string;
  /** The container's network namespace: while its path names it, the addresses are not taken for forgotten. */
  readonly sandbox?: { readonly path: string; readonly key: string };
}

/** An address, alone: `10.244.3.7/32`. */
export interface GivenAddress {
  readonly address: Prefix;
  readonly pool: string;
}

/** What an attachment was given. */
export interface Given {
  readonly addresses: readonly GivenAddress[];
  /** What its packets may measure so that they reach every other pod whole; 0 where nobody knows. */
  readonly mtu: number;
  /** The node's name. */
  readonly node: string;
}

/** What an attachment holds. */
export interface HeldAddresses extends Attachment {
  readonly addresses: readonly GivenAddress[];
  /** Tells this holding from one of the same attachment before or after. */
  readonly at: number;
}

/** Whether addresses can be taken now, and if not why, and what to do. */
export type Readiness =
  | { readonly ready: true; readonly node: string; readonly warnings: readonly string[] }
  | { readonly ready: false; readonly reason: string; readonly hint?: string | undefined };

/**
 * Addresses of the cluster for one node's attachments. Failures are {@link HeddleError}s whose code CNI's codes follow
 * from: 11, try again later, for whatever may pass.
 */
export interface ClusterAddresses {
  /**
   * Takes addresses: one of each family, or none at all. Asking again gives the same ones, and makes void what was asked
   * to be given back of the attachment before.
   */
  take(request: AddressRequest): Promise<Given>;
  /**
   * Gives back what an attachment has; nothing is given back already. Where that cannot be done now it is noted and done
   * before anybody is served again.
   *
   * @param at what {@link HeldAddresses.at} said: nothing newer is given back
   */
  give(attachment: Attachment, at?: number): Promise<void>;
  /** What an attachment holds; `undefined` for nothing. */
  held(attachment: Attachment): Promise<HeldAddresses | undefined>;
  /** What all attachments of a network on this node hold. */
  list(network: string): Promise<readonly HeldAddresses[]>;
  /**
   * Whether {@link take} would work.
   *
   * @param room of which pools and families there must be room; not looked at when left out, for it can take a look at
   *   all blocks
   */
  status(room?: Pick<AddressRequest, 'families' | 'pools'>): Promise<Readiness>;
}

/** One string for an attachment; no two share one, for no part of it has a slash. */
export function attachmentHandle({ network, containerID, ifName }: Attachment): string {
  return `${network}/${containerID}/${ifName}`;
}

/** The attachment that a handle is of; `undefined` for a handle of something else. */
export function attachmentOf(handle: string): Attachment | undefined {
  const [network, containerID, ifName, ...more] = handle.split('/');
  if (!network || !containerID || !ifName || more.length > 0) return undefined;
  return { network, containerID, ifName };
}
