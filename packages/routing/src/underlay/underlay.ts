/** The network that nodes reach each other over, as this node sees it. */
import type { Prefix } from '@heddle/netaddr';

/** One address of this node between nodes. */
export interface UnderlayAddress {
  /** With the prefix of its segment. */
  readonly prefix: Prefix;
  /** Index of the link that has it. */
  readonly link: number;
  readonly linkName: string;
}

/** See the file's comment. */
export interface Underlay {
  /** At most one of a family. */
  readonly addresses: readonly UnderlayAddress[];
  /** The smallest MTU of their links, in bytes. */
  readonly mtu: number;
}

/** What chooses the underlay. */
export interface UnderlayOptions {
  /** The link; without it, that of the default route, else the first with a global address. */
  readonly interface?: string;
  /** Both by default. */
  readonly families?: readonly (4 | 6)[];
}
