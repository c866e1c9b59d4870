/** What links have beside their kind: what a request leaves out, and what it may not say. */
import { Mac } from '@heddle/netaddr';
import type { LinkMessage } from '../../link/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, refuseUnknown } from '../core/refusal.ts';
import { linksAbove } from './find.ts';
import { isLoopback } from './kinds.ts';
import type { InfoData, LinkAt } from './record.ts';

/** The link that a new one sits on, looked up where the request was made. */
export function lowerOf(asker: Namespace, kind: string, { attributes: a }: LinkMessage): LinkAt | undefined {
  const index = kind === 'vxlan' ? a.linkInfo?.data?.vxlan?.link : a.link;
  const needsOne = kind === 'vlan' || kind === 'macvlan' || kind === 'ipvlan';
  if (index === undefined || index === 0) {
    if (needsOne) refuse('EINVAL', kind === 'vlan' ? '8021q: link not specified' : undefined);
    return undefined;
  }
  const below = asker.links.get(index);
  if (below === undefined) refuse('ENODEV', kind === 'vlan' ? '8021q: link does not exist' : undefined);
  if (kind === 'vlan' && isLoopback(below)) refuse('EOPNOTSUPP', '8021q: VLANs not supported on device');
  if (needsOne && isLoopback(below)) refuse('EINVAL');
  const rival = { macvlan: 'ipvlan', ipvlan: 'macvlan' }[kind];
  if (rival !== undefined) {
    const others = linksAbove(asker, below).map((at) => at.namespace.links.get(at.index)?.kind);
    if (others.includes(rival) || below.port !== undefined) refuse('EBUSY');
  }
  return needsOne || kind === 'vxlan' ? { namespace: asker, index } : undefined;
}

/** The data of a new link, completed. */
export function freshData(
  namespace: Namespace,
  kind: string,
  given: InfoData,
  lower: LinkAt | undefined,
): InfoData | undefined {
  refuseUnknown('IFLA_INFO_DATA', given);
  switch (kind) {
    case 'bridge':
      return { bridge: { ...BRIDGE, ...checkedBridge(namespace, given.bridge ?? {}) } };
    case 'vlan':
      return {
        vlan: freshVlan(
          namespace,
          given.vlan ?? refuse('ENODEV', '8021q: VLAN properties not specified'),
          lower,
        ),
      };
    case 'macvlan':
      return { macvlan: { mode: 'vepa', flags: 0, broadcastQueueLength: 1000, ...given.macvlan } };
    case 'ipvlan':
      return { ipvlan: { mode: 'l3', flags: 0, ...given.ipvlan } };
    case 'vxlan':
      return { vxlan: freshVxlan(namespace, given.vxlan ?? {}) };
    case 'vrf': {
      const table = given.vrf?.table ?? refuse('EINVAL', 'VRF table id is missing');
      if (table === 0) refuse('EINVAL', 'Invalid VRF table id');
      return { vrf: { table } };
    }
    default:
      return undefined;
  }
}

/** Refuses what a bridge cannot be told. */
export function checkedBridge({ machine }: Namespace, data: NonNullable<InfoData['bridge']>): typeof data {
  if (data.vlanFiltering !== undefined && machine.missingKinds.has('bridge-vlan')) refuse('EOPNOTSUPP');
  if ((data.defaultVlan ?? 0) >= 4095) refuse('EINVAL');
  return data;
}

/** What a bridge is like that nobody told anything. */
export const BRIDGE = {
  forwardDelay: 1500,
  helloTime: 200,
  maxAge: 2000,
  ageingTime: 30000,
  stp: false,
  priority: 32768,
  vlanFiltering: false,
  vlanProtocol: 0x8100,
  groupForwardMask: 0,
  groupAddress: Mac.parse('01:80:c2:00:00:00'),
  multicastRouter: 1,
  multicastSnooping: true,
  multicastQuerier: false,
  callIptables: false,
  callIp6tables: false,
  callArptables: false,
  defaultVlan: 1,
} as const;

function freshVlan(
  namespace: Namespace,
  given: NonNullable<InfoData['vlan']>,
  lower: LinkAt | undefined,
): NonNullable<InfoData['vlan']> {
  const { id = refuse('ENODEV', '8021q: VLAN id not specified'), protocol = '802.1q' } = given;
  if (id >= 4095) refuse('ERANGE', '8021q: Invalid VLAN id');
  const below = lower?.namespace.links.get(lower.index);
  const siblings = below === undefined ? [] : linksAbove(namespace, below);
  for (const at of siblings) {
    const other = at.namespace.links.get(at.index)?.data?.vlan;
    if (other?.id === id && other.protocol === protocol)
      refuse('EEXIST', '8021q: VLAN device already exists');
  }
  return {
    id,
    protocol,
    flags: { flags: (given.flags?.flags ?? 1) & (given.flags?.mask ?? 1), mask: 0xffff_ffff },
  };
}

function freshVxlan(
  namespace: Namespace,
  given: NonNullable<InfoData['vxlan']>,
): NonNullable<InfoData['vxlan']> {
  const vxlan = { ...VXLAN, ...given };
  if (given.id === undefined && given.external !== true) refuse('EINVAL');
  for (const { data } of namespace.links.values()) {
    if (data?.vxlan?.id === vxlan.id && data?.vxlan?.port === vxlan.port) {
      refuse('EEXIST', 'A VXLAN device with the specified VNI already exists');
    }
  }
  return vxlan;
}

/** What a VXLAN is like that nobody told anything. */
export const VXLAN = {
  ttl: 0,
  tos: 0,
  learning: true,
  ageing: 300,
  limit: 0,
  portRange: { low: 0, high: 0 },
  proxy: false,
  l2Miss: false,
  l3Miss: false,
  port: 8472,
  udpChecksum: true,
  zeroChecksum6Tx: false,
  zeroChecksum6Rx: false,
  external: false,
  flowLabel: 0,
  dontFragment: 0,
} as const;
