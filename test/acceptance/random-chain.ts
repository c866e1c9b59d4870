/** Chooses a chain of plugins and their configurations. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DhcpLink, LabConfig } from '@heddle/plugins/testing';
import type { Choices } from '../support/choices.ts';

/** The configuration of a plugin. */
export type ChainLink = LabConfig & { readonly type: string };
/** Configurations in the order of their ADDs. */
export type Chain = readonly ChainLink[];

/** The plugins whose links the kernel at hand may lack. */
export const RARE: readonly string[] = ['dummy', 'ipvlan', 'vlan', 'vrf'];

/** What there is for a chain to stand on. */
export interface Ground {
  /** An empty directory, for data of plugins. */
  readonly directory: string;
  /** A link with a DHCP server, if containers get their addresses there. */
  readonly dhcp: DhcpLink | undefined;
  /** Whether the chain has to have the links that small kernels lack, or may have none of them. */
  readonly isRare: boolean;
}

/**
 * A chain: a main plugin, and up to all of those that are chained behind it.
 *
 * @param round deals the main plugins: as many rounds as there are have each of them once
 */
export function randomChain(ground: Ground, choices: Choices, round: number): Chain {
  const mains = ground.dhcp === undefined ? addressedHere(ground, choices) : addressedByDhcp(ground, choices);
  const main = mains[round % mains.length] ?? { type: 'nothing' };
  const chosen = metas(ground, choices, main).filter(() => choices.chance(5));
  return [main, ...(choices.chance(5) ? chosen : chosen.toReversed())];
}

function addressedHere({ directory, isRare }: Ground, choices: Choices): Chain {
  const families = choices.one([['10.70.0.0/24'], ['fd00:70::/64'], ['10.70.0.0/24', 'fd00:70::/64']]);
  const gateways = families.map((subnet) => subnet.replace(/(0|:)\/\d+$/, subnet.includes(':') ? ':1' : '1'));
  const routes = families.map((subnet) => ({ dst: subnet.includes(':') ? '::/0' : '0.0.0.0/0' }));
  const dataDir = join(directory, 'ipam');
  const ipam = choices.one<object>([
    { type: 'host-local', dataDir, ranges: families.map((subnet) => [{ subnet }]), routes },
    {
      type: 'static',
      addresses: families.map((subnet, index) => ({
        address: subnet.replace(/0\/|:\//, subnet.includes(':') ? ':9/' : '9/'),
        gateway: gateways[index],
      })),
      routes,
    },
  ]);
  const bridge = { type: 'bridge', bridge: 'hdleak0', isGateway: true, ipMasq: true };
  if (isRare) {
    return [
      { type: 'dummy', ipam },
      { type: 'vlan', master: 'hdmaster', vlanId: 7, ipam },
      { type: 'ipvlan', master: 'hdmaster', mode: choices.one(['l2', 'l3']), ipam },
      { ...bridge, vlan: 7, ipam },
    ];
  }
  const [macspoofchk, portIsolation] = [choices.chance(5), choices.chance(3)];
  return [
    { ...bridge, hairpinMode: true, macspoofchk, portIsolation, ipam },
    { ...bridge, isDefaultGateway: true, ipMasqBackend: 'iptables', ipam },
    { type: 'ptp', ipMasq: true, ipam },
    { type: 'macvlan', master: 'hdmaster', ipam },
    { type: 'tap', ipam },
    { type: 'host-device', device: 'hdfar', ipam },
    flannel(directory, bridge),
  ];
}

/** Those whose containers reach the DHCP server. */
function addressedByDhcp({ dhcp, isRare }: Ground, choices: Choices): Chain {
  const ipam = dhcp?.ipam;
  if (isRare) return [{ type: 'ipvlan', master: 'hdup', ipam }];
  return [
    { type: 'bridge', bridge: 'hdbr', ipMasq: choices.chance(5), macspoofchk: choices.chance(5), ipam },
    { type: 'macvlan', master: 'hdup', ipam },
    { type: 'host-device', device: 'hdup', ipam },
  ];
}

function metas({ directory, dhcp, isRare }: Ground, choices: Choices, main: ChainLink): Chain {
  const portMappings = [
    { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
    { hostPort: 5353, containerPort: 53, protocol: 'udp' },
  ];
  // A bridge whose containers are isolated from each other keeps them from a DHCP server on it as well.
  const ingressPolicies = ['open', 'same-bridge', ...(dhcp === undefined ? ['isolated'] : [])] as const;
  const ingressPolicy = main.type === 'bridge' ? choices.one(ingressPolicies) : 'open';
  const limits = {
    ...{ ingressRate: 1_000_000, ingressBurst: 400_000 },
    ...{ egressRate: 1_000_000, egressBurst: 400_000 },
  };
  return [
    { type: 'loopback' },
    { type: 'portmap', backend: choices.one(['nftables', 'iptables']), runtimeConfig: { portMappings } },
    { type: 'firewall', backend: choices.one(['iptables', 'nftables']), ingressPolicy },
    {
      ...{ type: 'tuning', dataDir: join(directory, 'tuning') },
      ...{ mtu: 1400, promisc: true, sysctl: { 'net.ipv4.conf.IFNAME.arp_filter': '1' } },
    },
    { type: 'sbr' },
    ...(isRare ? [{ type: 'vrf', vrfname: 'hdvrf' }] : []),
    ...(main.type === 'bridge' || main.type === 'ptp' ? [{ type: 'bandwidth', ...limits }] : []),
  ];
}

/** flannel gets its subnet from a file, and hands everything to bridge. */
function flannel(directory: string, delegate: object): ChainLink {
  const subnetFile = join(directory, 'subnet.env');
  const subnet = 'FLANNEL_NETWORK=10.70.0.0/16\nFLANNEL_SUBNET=10.70.9.1/24\n';
  writeFileSync(subnetFile, `${subnet}FLANNEL_MTU=1450\nFLANNEL_IPMASQ=false\n`);
  const dataDir = join(directory, 'flannel');
  mkdirSync(dataDir);
  const ipam = { type: 'host-local', dataDir: join(directory, 'ipam') };
  return { type: 'flannel', subnetFile, dataDir, delegate, ipam };
}
