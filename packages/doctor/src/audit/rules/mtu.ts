/** Sizes of packets that do not fit. */
import { type AuditRule, partRule } from '../audit-rule.ts';
import { numberMember, type PluginPart } from '../model/network.ts';
import type { HostFacts } from '../model/ports.ts';
import { isRouted, masterOf, rangesOf } from '../model/ranges.ts';

const tooSmall = partRule({
  id: 'mtu/too-small',
  title: 'An MTU below the minimum',
  severity: 'error',
  explains:
    'IPv6 needs links of at least 1280 bytes: below, the kernel switches it off for the interface and addresses disappear. IPv4 needs 68; below 576 many programs do not get along.',
  *check(part, network) {
    const mtu = numberMember(part.raw, 'mtu');
    // A negative one is refused by the schema of most; the links on a master judge it only when they act.
    const isJudgedLate = ['macvlan', 'ipvlan', 'vlan'].includes(part.type ?? '');
    if (mtu === undefined || mtu === 0 || (mtu < 0 && !isJudgedLate)) return;
    const hasIpv6 = rangesOf(network).some(({ subnet }) => subnet.family === 6);
    const minimum = hasIpv6 ? 1280 : 576;
    if (mtu >= minimum) return;
    yield {
      ...(mtu >= 68 && !hasIpv6 && { severity: 'warning' as const }),
      place: place(part),
      what: `an MTU of ${mtu} is less than the ${minimum} that ${hasIpv6 ? 'IPv6 needs' : 'IPv4 hosts count on'}`,
      consequence: hasIpv6
        ? 'The kernel refuses IPv6 addresses on the interface: every attachment fails.'
        : mtu < 68
          ? 'The kernel refuses it.'
          : 'Some programs cannot talk to the container.',
      remedy: `Write at least ${minimum}, or leave "mtu" out for the default.`,
    };
  },
});

const aboveMaster = partRule({
  id: 'mtu/above-master',
  title: 'An MTU above that of the link below',
  severity: 'error',
  explains:
    'An interface of macvlan, ipvlan or vlan cannot carry larger packets than the link that it is on. The kernel refuses it with "invalid argument". Looked at only on the machine itself.',
  *check(part, _network, { host }) {
    const mtu = numberMember(part.raw, 'mtu');
    const master = masterOf(part);
    const link = host?.links.find(({ name }) => name === master);
    if (mtu === undefined || link === undefined || mtu <= link.mtu) return;
    yield {
      place: place(part),
      what: `the MTU is ${mtu}, and ${master} has ${link.mtu}`,
      consequence: 'Every attachment fails: "invalid argument", or a message with both numbers.',
      remedy: `Write at most ${link.mtu}, or leave "mtu" out.`,
    };
  },
});

const aboveUplink = partRule({
  id: 'mtu/above-path',
  title: 'An MTU above that of the way out',
  severity: 'warning',
  explains:
    "Packets that are larger than what the host's link to the world carries are fragmented or dropped, silently where ICMP is filtered. With an overlay its header is to be subtracted: 50 bytes for VXLAN (70 over IPv6), 20 for IP-in-IP, 60 for WireGuard (80 over IPv6). Looked at only on the machine itself.",
  *check(part, _network, { host }) {
    const mtu = numberMember(part.raw, 'mtu');
    const uplink = host === undefined ? undefined : uplinkOf(host);
    if (mtu === undefined || host === undefined || uplink === undefined) return;
    const overlay = isOverlay(part) ? overlayOf(host) : undefined;
    if (overlay === undefined && !isRouted(part)) return;
    const room = uplink.mtu - (overlay?.overhead ?? 0);
    if (mtu <= room) return;
    const how = overlay === undefined ? '' : `, less ${overlay.overhead} for ${overlay.name}`;
    yield {
      place: place(part),
      what: `the MTU is ${mtu}, but ${uplink.name} carries ${uplink.mtu}${how}`,
      consequence:
        'Large packets are fragmented, or dropped without a message: small requests work, large answers hang.',
      remedy: `Write at most ${room}, or leave "mtu" out.`,
    };
  },
});

const needlesslySmall = partRule({
  id: 'mtu/needlessly-small',
  title: 'An MTU that wastes room',
  severity: 'note',
  explains:
    "The MTU is more than 100 bytes below what the host's link carries, more than any overlay needs: each packet costs the same and carries less. Looked at only on the machine itself.",
  *check(part, _network, { host }) {
    const mtu = numberMember(part.raw, 'mtu');
    const uplink = host === undefined ? undefined : uplinkOf(host);
    if (mtu === undefined || mtu <= 0 || uplink === undefined || !(isRouted(part) || isOverlay(part))) return;
    if (mtu >= uplink.mtu - LARGEST_OVERHEAD) return;
    yield {
      place: place(part),
      what: `the MTU is ${mtu}, and ${uplink.name} carries ${uplink.mtu}`,
      consequence: 'Bulk transfers cost more packets than they need to.',
      remedy: `Write ${uplink.mtu}, less what an overlay or tunnel on the way needs.`,
    };
  },
});

const aboveMain = partRule({
  id: 'mtu/tuned-above',
  title: 'A tuned MTU above that of the other end',
  severity: 'warning',
  explains:
    "tuning sets the MTU of the container's end only. Above that of the host's end, or of the bridge, packets are dropped there without a message.",
  *check(part, network) {
    if (part.type !== 'tuning') return;
    const mtu = numberMember(part.raw, 'mtu');
    const main = network.parts.find(
      ({ index, known, raw }) =>
        index < part.index && known?.role === 'main' && (numberMember(raw, 'mtu') ?? 0) > 0,
    );
    const below = numberMember(main?.raw, 'mtu');
    if (mtu === undefined || below === undefined || mtu <= below) return;
    yield {
      place: place(part),
      what: `tuning sets an MTU of ${mtu}, and ${main?.type} made the link with ${below}`,
      consequence: "Packets from the container that are larger than the other end's MTU are dropped.",
      remedy: `Write at most ${below}, or set "mtu" on ${main?.type} alone.`,
    };
  },
});

/** Rules on MTUs, the likeliest first. */
export const MTU_RULES: readonly AuditRule[] = [
  aboveUplink,
  aboveMaster,
  tooSmall,
  aboveMain,
  needlesslySmall,
];

/** WireGuard over IPv6, and some room. */
const LARGEST_OVERHEAD = 100;

function place({ document, path }: PluginPart) {
  return document.place([...path, 'mtu']);
}

/** The link of the default route. */
function uplinkOf({ routes, links }: HostFacts): HostFacts['links'][number] | undefined {
  const route = routes.find(({ destination }) => destination.bits === 0);
  return links.find(({ name }) => name === route?.device);
}

/** Calico, Flannel and the like send their traffic through a device of their own. */
function isOverlay({ known }: PluginPart): boolean {
  return known?.isCluster === true;
}

function overlayOf({ links }: HostFacts): { readonly name: string; readonly overhead: number } | undefined {
  const found = links.flatMap(({ name }) => {
    const overhead = OVERLAYS.get(name);
    return overhead === undefined ? [] : [{ name, overhead }];
  });
  return found.toSorted((a, b) => b.overhead - a.overhead)[0];
}

const OVERLAYS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    ...{ 'vxlan.calico': 50, 'flannel.1': 50, cilium_vxlan: 50, 'flannel-wg': 60, 'wireguard.cali': 60 },
    ...{
      cilium_wg0: 60,
      cilium_geneve: 50,
      'antrea-tun0': 50,
      'vxlan-v6.calico': 70,
      'wg-v6.cali': 80,
      'flannel-v6.1': 70,
    },
  }),
);
