/** A link of the fake kernel. */
import type { Value } from '@heddle/wire';
import type { linkInfo } from '../../link/codec.ts';
import type { Link } from '../../link/link.ts';
import type { BridgePortRecord } from '../bridge/record.ts';
import type { Namespace } from '../core/namespace.ts';

/** RFC 2863 */
export type Operstate = Link['operstate'];

/** What a link has beside its kind, as IFLA_INFO_DATA holds it. */
export type InfoData = NonNullable<Value<typeof linkInfo>['data']>;

/** Another link, in whichever namespace it is. */
export interface LinkAt {
  readonly namespace: Namespace;
  readonly index: number;
}

/** A link as it is now. A change makes another record. */
export interface LinkRecord {
  readonly index: number;
  readonly name: string;
  /** Absent for the loopback. */
  readonly kind?: string;
  /** Of six bytes. */
  readonly address: Uint8Array;
  /** Whether somebody chose the address; else a bridge follows its ports. */
  readonly addressIsSet: boolean;
  readonly mtu: number;
  /** Whether somebody chose the MTU; else a bridge follows its ports. */
  readonly mtuIsSet: boolean;
  /** IFF_UP */
  readonly up: boolean;
  /** Whether IFF_PROMISC was asked for. */
  readonly promiscuous: boolean;
  /** Whether IFF_ALLMULTI was asked for. */
  readonly allmulti: boolean;
  readonly txQueueLength: number;
  readonly group: number;
  readonly alias?: string;
  readonly altNames: readonly string[];
  /** Index of the bridge or VRF. */
  readonly master?: number;
  /** The other end of a veth, or the link below. */
  readonly lower?: LinkAt;
  readonly data?: InfoData;
  /** What the bridge knows of it as a port. */
  readonly port?: BridgePortRecord;
  /** Of a bridge: whether it looked at its ports ever since, so that its carrier depends on them. */
  readonly hasElected: boolean;
  /** The VLANs that it is in, as a port or as a bridge. */
  readonly vlans: readonly VlanRecord[];
  /** As the kernel last noticed. */
  readonly carrier: boolean;
  /** As the kernel last noticed; a link that is not up is shown as down whatever this says. */
  readonly operstate: Operstate;
  /** Whether it ever was up, and so has a queueing discipline. */
  readonly wasUp: boolean;
  /** Whether IPv6 has begun on it. */
  readonly ipv6Ready: boolean;
}

/** A VLAN of a port or bridge. */
export interface VlanRecord {
  readonly id: number;
  readonly pvid: boolean;
  readonly untagged: boolean;
}

/** The index of the loopback of every namespace. */
export const LOOPBACK_INDEX = 1;
