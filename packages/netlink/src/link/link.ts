/** A link as users see it, from the message that describes it. */
import { Mac } from '@heddle/netaddr';
import type { Value } from '@heddle/wire';
import { type BridgePort, bridgePort } from '../bridge/port-codec.ts';
import type { LinkMessage, linkInfo } from './codec.ts';
import { IFF } from './fields.ts';
import type { BridgeData } from './kinds/bridge.ts';
import { type GeneveData, geneveData } from './kinds/geneve.ts';
import { type IpipData, ipipData } from './kinds/ipip.ts';
import type { IpvlanData } from './kinds/ipvlan.ts';
import type { MacvlanData } from './kinds/macvlan.ts';
import type { TunData } from './kinds/tun.ts';
import type { VlanData } from './kinds/vlan.ts';
import type { VrfData } from './kinds/vrf.ts';
import { type VxlanData, vxlanData } from './kinds/vxlan.ts';

/** A network interface. */
export interface Link {
  readonly index: number;
  readonly name: string;
  /** `veth`, `bridge`, …; absent for hardware and loopback. */
  readonly kind?: string;
  /** ARPHRD_*: 1 is Ethernet, 772 loopback. */
  readonly type: number;
  /** Absent where the link has no address of six bytes. */
  readonly mac?: Mac;
  readonly mtu: number;
  /** IFF_* */
  readonly flags: number;
  /** Whether it was set up (IFF_UP). */
  readonly up: boolean;
  /** Whether it can carry packets (IFF_RUNNING). */
  readonly running: boolean;
  /** RFC 2863 */
  readonly operstate:
    | 'unknown'
    | 'notpresent'
    | 'down'
    | 'lowerlayerdown'
    | 'testing'
    | 'dormant'
    | 'up'
    | number;
  /** Index of the bridge, bond or VRF that it belongs to. */
  readonly master?: number;
  /** Index of the link below, or of a veth's other end; in the namespace `parentNetnsId` where that is set. */
  readonly parent?: number;
  /** The kernel's number for another namespace, valid inside this one. */
  readonly parentNetnsId?: number;
  /** Free text, the place for an owner's tag. */
  readonly alias?: string;
  readonly altNames: readonly string[];
  readonly txQueueLength: number;
  /** How many users asked for all packets. */
  readonly promiscuity: number;
  readonly allmulti: boolean;
  readonly group: number;
  /** Name of the device on a hardware bus, such as a PCI address. */
  readonly parentDevice?: string;
  /** What only links of this kind have. */
  readonly data?: LinkData;
  /** The bridge port that it is. */
  readonly port?: BridgePort;
}

/** What only links of one kind have. */
export type LinkData =
  | ({ readonly kind: 'bridge' } & BridgeData)
  | ({ readonly kind: 'vlan' } & VlanData)
  | ({ readonly kind: 'macvlan' | 'macvtap' } & MacvlanData)
  | ({ readonly kind: 'ipvlan' } & IpvlanData)
  | ({ readonly kind: 'vxlan' } & VxlanData)
  | ({ readonly kind: 'geneve' } & GeneveData)
  | ({ readonly kind: 'ipip' } & IpipData)
  | ({ readonly kind: 'vrf' } & VrfData)
  | ({ readonly kind: 'tun' } & TunData);

/** The link that a message describes. */
export function linkOf(message: LinkMessage): Link {
  const { index, type, flags, attributes: a } = message;
  const info = a.linkInfo;
  const data = info && dataOf(info);
  const port = info?.slaveKind === 'bridge' ? info.slaveData?.bridge : undefined;
  const link: Writable<Link> = {
    index,
    name: a.ifname ?? '',
    type,
    mtu: a.mtu ?? 0,
    flags,
    up: (flags & IFF.UP) !== 0,
    running: (flags & IFF.RUNNING) !== 0,
    operstate: a.operstate ?? 'unknown',
    altNames: a.propertyList?.altNames ?? [],
    txQueueLength: a.txqlen ?? 0,
    promiscuity: a.promiscuity ?? 0,
    allmulti: (flags & IFF.ALLMULTI) !== 0,
    group: a.group ?? 0,
  };
  if (info?.kind !== undefined) link.kind = info.kind;
  if (a.address?.length === 6) link.mac = Mac.fromBytes(a.address);
  if (a.master !== undefined) link.master = a.master;
  if (a.link !== undefined) link.parent = a.link;
  if (a.linkNetnsid !== undefined) link.parentNetnsId = a.linkNetnsid;
  if (a.ifalias !== undefined) link.alias = a.ifalias;
  if (a.parentDevice !== undefined) link.parentDevice = a.parentDevice;
  if (data !== undefined) link.data = data;
  if (port !== undefined) link.port = bridgePort(port);
  return link;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function dataOf({ data }: Value<typeof linkInfo>): LinkData | undefined {
  if (data === undefined) return undefined;
  if (data.bridge) return { kind: 'bridge', ...known(data.bridge) };
  if (data.vlan) return { kind: 'vlan', ...known(data.vlan) };
  if (data.macvlan) return { kind: 'macvlan', ...known(data.macvlan) };
  if (data.macvtap) return { kind: 'macvtap', ...known(data.macvtap) };
  if (data.ipvlan) return { kind: 'ipvlan', ...known(data.ipvlan) };
  if (data.vxlan) return { kind: 'vxlan', ...vxlanData(known(data.vxlan)) };
  if (data.geneve) return { kind: 'geneve', ...geneveData(known(data.geneve)) };
  if (data.ipip) return { kind: 'ipip', ...ipipData(known(data.ipip)) };
  if (data.vrf) return { kind: 'vrf', ...known(data.vrf) };
  if (data.tun) return { kind: 'tun', ...known(data.tun) };
  return undefined;
}

/** A set without the attributes that have no name here. */
function known<T extends { readonly unknown?: unknown }>({ unknown: _, ...data }: T): Omit<T, 'unknown'> {
  return data;
}
