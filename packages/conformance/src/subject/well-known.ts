/** Configurations for plugins whose names everybody knows, so that the kit can be tried without writing one. */

import { writeFileSync } from 'node:fs';
import type { JsonObject } from '@heddle/cni';
import { makeDirectory } from '@heddle/sys';
import type { Kind } from '../check.ts';
import type { Namespace } from '../lab/namespace.ts';
import { STUB_IPAM } from '../lab/stub-ipam.ts';

/** What the kit knows about a plugin. */
export interface Setup {
  readonly kind?: Kind;
  /** The plugin's object of a network list, for the n-th container. */
  readonly config: (n: number) => JsonObject;
  /** The interface's name, where it cannot be chosen. */
  readonly ifName?: string;
  /** For IPAM: a configuration with a pool of at most this many addresses. */
  readonly smallPool?: JsonObject;
  /** Whether IPAM gives each attachment an address of its own. */
  readonly allocates?: boolean;
  /** Whether `mtu` of the configuration is the interface's. */
  readonly takesMtu?: boolean;
  /** Whether MAC of CNI_ARGS is the interface's. */
  readonly takesMac?: boolean;
  /** Whether containers are in a network with a DHCP server before the plugin is called. */
  readonly needsDhcp?: boolean;
  /** How the plugin's own program is its daemon, and the path that is there when that is ready. */
  readonly companion?: { readonly args: string; readonly ready: string };
  /** Makes what the plugin needs on a node. */
  readonly prepareNode?: (node: Namespace) => Promise<void>;
  /** Makes what the n-th container needs on a node. */
  readonly prepareContainer?: (node: Namespace, n: number) => Promise<void>;
}

/** Stands for any address management. */
const ipam = { type: STUB_IPAM } as const;

const MASTER = 'kitmaster';
/** A link that leads nowhere, for plugins that need one below theirs. */
const withMaster = async ({ session }: Namespace): Promise<void> => {
  await session.links.add({ kind: 'veth', name: MASTER, up: true, peer: { name: 'kitfar' } });
  await session.links.set('kitfar', { up: true });
};

/** Two families, for plugins that give addresses. */
const ROUTES = [{ dst: '0.0.0.0/0' }, { dst: '::/0' }];

/** The plugins of the reference, and flannel, by type. */
export const WELL_KNOWN: Readonly<Record<string, Setup>> = {
  bridge: {
    kind: 'interface',
    config: () => ({
      type: 'bridge',
      bridge: 'kitbr0',
      isGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ipam,
    }),
    takesMtu: true,
    takesMac: true,
  },
  ptp: { kind: 'interface', config: () => ({ type: 'ptp', ipMasq: true, ipam }), takesMtu: true },
  macvlan: {
    kind: 'interface',
    config: () => ({ type: 'macvlan', master: MASTER, mode: 'bridge', ipam }),
    prepareNode: withMaster,
    takesMtu: true,
    takesMac: true,
  },
  ipvlan: {
    kind: 'interface',
    config: () => ({ type: 'ipvlan', master: MASTER, ipam }),
    prepareNode: withMaster,
    takesMtu: true,
  },
  vlan: {
    kind: 'interface',
    // A VLAN of one link has one interface in a namespace, the host's included while it is being made.
    config: (n) => ({ type: 'vlan', master: MASTER, vlanId: 100 + n, ipam }),
    prepareNode: withMaster,
    takesMtu: true,
  },
  dummy: { kind: 'interface', config: () => ({ type: 'dummy', ipam }) },
  tap: { kind: 'interface', config: () => ({ type: 'tap', ipam }), takesMac: true },
  loopback: { kind: 'interface', config: () => ({ type: 'loopback' }), ifName: 'lo' },
  'host-device': {
    kind: 'interface',
    config: (n) => ({ type: 'host-device', device: `kitdev${n}`, ipam }),
    prepareContainer: async ({ session }, n) => {
      await session.links.add({ kind: 'veth', name: `kitdev${n}`, up: true, peer: { name: `kitend${n}` } });
      // Without a carrier no IPv6 address gets ready, and plugins wait for that.
      await session.links.set(`kitend${n}`, { up: true });
    },
  },
  flannel: {
    kind: 'interface',
    config: () => ({
      type: 'flannel',
      subnetFile: '/run/flannel/subnet.env',
      delegate: { type: 'bridge', bridge: 'kitflannel0', isDefaultGateway: true },
    }),
    prepareNode: async () => {
      makeDirectory('/run/flannel');
      writeFileSync(
        '/run/flannel/subnet.env',
        'FLANNEL_NETWORK=10.213.0.0/16\nFLANNEL_SUBNET=10.213.1.1/24\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n',
      );
    },
  },
  // The two take addresses from the agent of a node, which is given with `--daemon`.
  heddle: { kind: 'interface', config: () => ({ type: 'heddle', pools: ['four', 'six'] }), takesMtu: true },
  'heddle-ipam': {
    kind: 'ipam',
    allocates: true,
    config: () => ({ type: 'conformance', ipam: { type: 'heddle-ipam', pools: ['four', 'six'] } }),
    smallPool: {
      type: 'conformance',
      ipam: { type: 'heddle-ipam', pools: ['small'], statusOnExhaustion: true },
    },
  },
  'host-local': {
    kind: 'ipam',
    allocates: true,
    config: () => ({
      type: 'conformance',
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: '10.211.0.0/24' }], [{ subnet: 'fd00:211::/64' }]],
        routes: ROUTES,
      },
    }),
    smallPool: {
      type: 'conformance',
      // Five addresses. Not every release knows the second member, which asks for what the specification says of STATUS.
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.212.0.0/29' }]], statusOnExhaustion: true },
    },
  },
  static: {
    kind: 'ipam',
    allocates: false,
    config: () => ({
      type: 'conformance',
      ipam: {
        type: 'static',
        addresses: [
          { address: '10.214.0.9/24', gateway: '10.214.0.1' },
          { address: 'fd00:214::9/64', gateway: 'fd00:214::1' },
        ],
        routes: ROUTES,
      },
    }),
  },
  dhcp: {
    kind: 'ipam',
    allocates: true,
    config: () => ({ type: 'conformance', ipam: { type: 'dhcp' } }),
    needsDhcp: true,
    companion: { args: 'daemon', ready: '/run/cni/dhcp.sock' },
  },
  portmap: {
    kind: 'chained',
    config: (n) => ({
      type: 'portmap',
      capabilities: { portMappings: true },
      runtimeConfig: { portMappings: [{ hostPort: 20_000 + n, containerPort: 80, protocol: 'tcp' }] },
    }),
  },
  bandwidth: {
    kind: 'chained',
    config: () => ({
      type: 'bandwidth',
      ingressRate: 1_000_000,
      ingressBurst: 400_000,
      egressRate: 1_000_000,
      egressBurst: 400_000,
    }),
  },
  firewall: { kind: 'chained', config: () => ({ type: 'firewall' }) },
  tuning: {
    kind: 'chained',
    config: () => ({ type: 'tuning', mtu: 1400, sysctl: { 'net.ipv4.conf.IFNAME.arp_filter': '1' } }),
  },
  sbr: { kind: 'chained', config: () => ({ type: 'sbr' }) },
  vrf: { kind: 'chained', config: () => ({ type: 'vrf', vrfname: 'kitvrf0' }) },
};
