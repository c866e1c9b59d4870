/** What links of a kind are like before anybody changes them — drivers/net/*, net/bridge, net/8021q. */
import type { LinkRecord } from './record.ts';

/** Where a link gets its carrier from. */
type Carrier = 'always' | 'peer' | 'ports' | 'lower';

/** The properties of a kind. MTUs are in bytes; a limit of 0 is none. */
export interface Kind {
  /** ARPHRD_* */
  readonly type: number;
  /** IFF_* that it always has. */
  readonly flags: number;
  readonly carrier: Carrier;
  readonly mtu: number;
  readonly minMtu: number;
  readonly maxMtu: number;
  readonly txQueueLength: number;
  /** Whether packets wait in a queue of its own until they are sent. */
  readonly queues: boolean;
  /** Whether a link of this kind can be in a bridge. */
  readonly bridgeable: boolean;
  /** Whether it stays in the namespace in which it was made. */
  readonly immovable: boolean;
}

const IFF = {
  BROADCAST: 0x2,
  LOOPBACK: 0x8,
  POINTOPOINT: 0x10,
  NOARP: 0x80,
  MASTER: 0x400,
  MULTICAST: 0x1000,
};
const ARPHRD = { ETHER: 1, LOOPBACK: 772, NONE: 0xfffe };

const ETHERNET: Kind = {
  type: ARPHRD.ETHER,
  flags: IFF.BROADCAST | IFF.MULTICAST,
  carrier: 'always',
  mtu: 1500,
  minMtu: 68,
  maxMtu: 65535,
  txQueueLength: 1000,
  queues: false,
  bridgeable: true,
  immovable: false,
};

const LOOPBACK: Kind = {
  ...ETHERNET,
  type: ARPHRD.LOOPBACK,
  flags: IFF.LOOPBACK,
  mtu: 65536,
  minMtu: 0,
  maxMtu: 0,
  bridgeable: false,
  immovable: true,
};

const KINDS: Readonly<Record<string, Kind>> = {
  veth: { ...ETHERNET, carrier: 'peer' },
  bridge: { ...ETHERNET, carrier: 'ports', bridgeable: false, immovable: true },
  dummy: { ...ETHERNET, flags: IFF.BROADCAST | IFF.NOARP, minMtu: 0, maxMtu: 0 },
  ifb: {
    ...ETHERNET,
    flags: IFF.BROADCAST | IFF.NOARP,
    txQueueLength: 32,
    queues: true,
    minMtu: 0,
    maxMtu: 0,
  },
  vlan: { ...ETHERNET, carrier: 'lower', minMtu: 0 },
  macvlan: { ...ETHERNET, carrier: 'lower' },
  ipvlan: { ...ETHERNET, carrier: 'lower', bridgeable: false },
  vxlan: ETHERNET,
  vrf: {
    ...ETHERNET,
    flags: IFF.NOARP | IFF.MASTER,
    mtu: 65575,
    minMtu: 1280,
    maxMtu: 65575,
    bridgeable: false,
    immovable: true,
  },
};

/** The properties of a kind, of the loopback for none; `undefined` for one that this kernel never has. */
export function kindOf(kind: string | undefined): Kind | undefined {
  if (kind === undefined) return LOOPBACK;
  return Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
}

/** The properties of a link's kind. */
export function kindOfLink({ kind }: LinkRecord): Kind {
  return kindOf(kind) ?? ETHERNET;
}

/** Whether a link has neighbours that it must ask for: it broadcasts, and speaks ARP and NDP. */
export function asksNeighbours(link: LinkRecord): boolean {
  return (kindOfLink(link).flags & (IFF.NOARP | IFF.LOOPBACK | IFF.POINTOPOINT)) === 0;
}

/** Whether it is the loopback of its namespace. */
export function isLoopback({ kind }: LinkRecord): boolean {
  return kind === undefined;
}
