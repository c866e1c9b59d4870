/** A node of an overlay as an operator sets it up, with `ip` and `bridge`, and what is to be compared of it. */
import { Prefix } from '@heddle/netaddr';
import type { TestNetns } from '@heddle/netlink/testing';
import type { TestNode, TestPod } from '@heddle/routing/testing';
import { AF, ethtool, SOCK, socket } from '@heddle/sys';
import { bytes, decode, encode, struct, u32 } from '@heddle/wire';

/** What must be known of a node to set it up, or to reach it. */
export interface NodePlan {
  /** Its address between nodes. */
  readonly host: string;
  /** Of its overlay device. */
  readonly mac: string;
  /** One of each family. */
  readonly tunnel: readonly string[];
  /** One of each family. */
  readonly blocks: readonly string[];
}

/** Which addresses, blocks and MAC a node of a cluster has. */
export function planOf({ membership, router }: TestNode, host: string): NodePlan {
  const { mac, addresses } = membership.record.tunnel;
  return {
    ...{ host, mac: `${mac}` },
    tunnel: addresses.map((address) => `${address}`),
    blocks: router.status().blocks.map((block) => `${block}`),
  };
}

const isV6 = (address: string) => address.includes(':');
const single = (address: string) => `${address}/${isV6(address) ? 128 : 32}`;

/** What is set up by hand on a node. */
export interface HandMadeOptions {
  readonly own: NodePlan;
  readonly device: string;
  /** Of the device, in bytes. */
  readonly mtu: number;
}

/** One node of two, on a namespace that has its link and its address already. */
export class HandMadeNode {
  readonly netns: TestNetns;
  readonly #own: NodePlan;
  readonly #mtu: number;

  constructor(netns: TestNetns, { own, peer, device, mtu }: HandMadeOptions & { readonly peer: NodePlan }) {
    this.netns = netns;
    this.#own = own;
    this.#mtu = mtu;
    makeDevice(netns, { own, device, mtu });
    addPeer(netns, device, peer);
    for (const block of own.blocks) netns.run(`ip route add blackhole ${block}`);
  }

  /** A pod with the last address of each block. */
  pod(netns: TestNetns): TestPod {
    const addresses = this.#own.blocks.map((block) => `${Prefix.parse(block).last}`);
    wirePod(this.netns, netns, addresses, this.#mtu);
    return { netns, addresses };
  }
}

/** The device of an overlay, its addresses, and that the node is a router. */
export function makeDevice(netns: TestNetns, { own, device, mtu }: HandMadeOptions): void {
  const kind = `type vxlan id 72 dstport 4789 local ${own.host} nolearning`;
  netns.run(`ip link add ${device} address ${own.mac} mtu ${mtu} ${kind}`);
  netns.run(`ip link set ${device} up`);
  // IPAM sees to it that nobody else has them.
  for (const address of own.tunnel) {
    netns.run(`ip address add ${single(address)} dev ${device}${isV6(address) ? ' nodad' : ''}`);
  }
  netns.run(
    `sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.conf.${device}.rp_filter=2`,
  );
}

/** What leads to another node: a neighbour and a route of each family, and one forwarding entry. */
export function addPeer(netns: TestNetns, device: string, { host, mac, tunnel, blocks }: NodePlan): void {
  netns.run(`bridge fdb append ${mac} dev ${device} dst ${host}`);
  for (const address of tunnel) {
    netns.run(`ip neigh add ${address} lladdr ${mac} dev ${device} nud permanent`);
    for (const block of blocks.filter((each) => isV6(each) === isV6(address))) {
      netns.run(`ip route add ${block} via ${address} dev ${device} onlink`);
    }
  }
}

/** A pod behind a routed pair of links. */
export function wirePod(host: TestNetns, pod: TestNetns, addresses: readonly string[], mtu: number): void {
  host.join(pod, ['pod', 'eth0']);
  host.run(`ip link set pod mtu ${mtu}`);
  pod.run(`ip link set eth0 mtu ${mtu}`);
  host.run('ip address add 169.254.1.1/32 dev pod');
  host.run('ip -6 address add fe80::1/64 dev pod nodad');
  for (const address of addresses) {
    pod.run(`ip address add ${single(address)} dev eth0`);
    host.run(`ip route add ${single(address)} dev pod`);
  }
  pod.run('ip route add 169.254.1.1 dev eth0');
  pod.run('ip route add default via 169.254.1.1');
  pod.run('ip -6 route add default via fe80::1 dev eth0');
}

/**
 * What differs between the lines of Heddle's and those by hand, and why: by these marks Heddle knows what is its own
 * (docs/numbers.md), and a metric of its own keeps its routes apart from an operator's. Packets go the same way.
 */
const MARKS: readonly (readonly [ours: RegExp, byHand: string])[] = [
  [/^\s*alias heddle: network of the cluster$/, ''],
  [/ group 72 /, ' group default '],
  // A route without a metric has none in IPv4, and the kernel's own in IPv6.
  [/ proto 72 metric 72(?= .*\bpref\b)/, ' metric 1024'],
  [/ proto 72 metric 72(?= |$)/, ''],
  // Of neighbours, and of addresses.
  [/ proto (72|0x48)(?= |$)/, ''],
];

const COMMANDS: readonly string[] = [
  'ip -d link show dev DEVICE',
  'ip -o address show dev DEVICE',
  'bridge fdb show dev DEVICE',
  'ip neigh show dev DEVICE nud permanent',
  'ip -6 neigh show dev DEVICE nud permanent',
  'ip -4 route show dev DEVICE',
  'ip -6 route show dev DEVICE',
  'ip -4 route show dev DEVICE table local',
  'ip -6 route show dev DEVICE table local',
  'ip -4 route show type blackhole',
  'ip -6 route show type blackhole',
  'grep -r . /proc/sys/net/ipv4/conf/DEVICE',
  'grep -r --exclude=stable_secret . /proc/sys/net/ipv6/conf/DEVICE',
];

/** What the tools say of a device and of what belongs to it: command → lines. */
export type DeviceLines = Readonly<Record<string, readonly string[]>>;

/** What they say of a device by hand. */
export function linesOf(netns: TestNetns, device: string): DeviceLines {
  const linesAfter = (command: string) => {
    const lines = netns.run(command.replace('DEVICE', device)).split('\n');
    // The number of a link is nobody's choice.
    return lines.flatMap((line) => line.replace(/^\d+: /, '').trim() || []).sort();
  };
  return Object.fromEntries(COMMANDS.map((command) => [command, linesAfter(command)]));
}

/** What they say of a device of Heddle's, without the marks that it has and one by hand has not. */
export function linesWithoutMarks(netns: TestNetns, device: string): DeviceLines {
  const withoutMarks = (line: string) =>
    MARKS.reduce((text, [ours, byHand]) => text.replace(ours, byHand), line) || [];
  return Object.fromEntries(
    Object.entries(linesOf(netns, device)).map(([command, lines]) => [
      command,
      lines.flatMap(withoutMarks).sort(),
    ]),
  );
}

/** ETHTOOL_GFEATURES and struct ethtool_gfeatures — linux/ethtool.h */
const GET_FEATURES = 0x3a;
const WORDS = 4;
const SIZE = WORDS * 16;
const features = struct('ethtool_gfeatures', { command: u32, words: u32, blocks: bytes(SIZE) });

/** Which offloads a device can have, is asked for and has, as the kernel's bits. */
export function offloadsOf({ handle }: TestNetns, device: string): Uint8Array {
  using fd = socket({ family: AF.INET, type: SOCK.DGRAM, netns: handle });
  const asked = { command: GET_FEATURES, words: WORDS, blocks: new Uint8Array(SIZE) };
  return decode(features, ethtool(fd, device, encode(features, asked))).blocks;
}
