/** The network that a node has from somebody else, as its files and devices show it. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isJsonObject, type NetworkConfigList } from '@heddle/cni';
import { listConfigDir, loadNetworkFile } from '@heddle/cni/runtime';
import { DEFAULT_DATA_DIR } from '@heddle/ipam';
import type { Encapsulation } from '@heddle/ipam/blocks';
import type { Prefix } from '@heddle/netaddr';
import type { KernelSession, Link } from '@heddle/netlink';
import { configuredPools, flannelNetwork } from '@heddle/plugins';
import { EXIT } from '../exit-codes.ts';
import { CLUSTER_NETWORK } from '../node/network.ts';
import { CommandError } from '../output/report-error.ts';

/** Whose network a node can be taken over from. */
export const SOURCES = ['flannel', 'host-local'] as const;

/** See {@link SOURCES}. */
export type Source = (typeof SOURCES)[number];

/** See the file's comment. */
export interface Former {
  readonly source: Source;
  readonly network: string;
  /** The file of its configuration; where runtimes look, unless it has been taken over already. */
  readonly config: string;
  /** Whatever else was read. */
  readonly read: readonly string[];
  /** Where host-local has its reservations. */
  readonly reservations: string;
  /** The bridge that pods are on; none where each has a route. */
  readonly bridge?: string;
  /** The node's part of the addresses. */
  readonly subnets: readonly Prefix[];
  /** All of them: what becomes of them are pools. */
  readonly ranges: readonly Prefix[];
  /** The devices by which it reaches other nodes; none where that is done by plain routes. */
  readonly overlays: readonly string[];
  /** When packets between nodes are to be wrapped, so that they pass where they did. */
  readonly encapsulation: Encapsulation;
  readonly natOutgoing: boolean;
}

/** Where to look. */
export interface FormerPlaces {
  readonly configDir: string;
  /** Where its configuration is once it has been taken over. */
  readonly aside: string;
}

/**
 * Reads what is there.
 *
 * @param name which network, where there are several
 * @throws {CommandError} when there is none, several, or one that cannot be taken over
 * @throws {CniError} when its configuration, or what Flannel's daemon wrote, is not valid or not there
 */
export async function readFormer(
  source: Source,
  name: string | undefined,
  places: FormerPlaces,
  session: KernelSession,
): Promise<Former> {
  const { list, path } = findNetwork(source, name, places);
  if (list.name === CLUSTER_NETWORK) {
    throw refusal(`network ${list.name} in ${path} has the name that the cluster's network has`, {
      hint: 'detach its containers and uninstall it, or give this machine to the cluster when it has none',
    });
  }
  return source === 'flannel'
    ? await ofFlannel(list, path, await session.links.list())
    : ofHostLocal(list, path);
}

interface Found {
  readonly list: NetworkConfigList;
  readonly path: string;
}

function findNetwork(source: Source, name: string | undefined, { configDir, aside }: FormerPlaces): Found {
  const isOfSource = ({ list: { plugins } }: Found) =>
    source === 'flannel' ? plugins[0]?.type === 'flannel' : plugins[0]?.ipamType === 'host-local';
  const present = listConfigDir(configDir).networks.filter(isOfSource);
  const taken = existsSync(aside) ? listConfigDir(aside).networks.filter(isOfSource) : [];
  // What was begun is ended first.
  const all = taken.length > 0 ? taken : present;
  const found = name === undefined ? all : all.filter(({ list }) => list.name === name);
  const [only, ...others] = found;
  if (only === undefined) {
    const which = name === undefined ? `no network of ${source}` : `no network ${name} of ${source}`;
    const known = all.map(({ list }) => list.name);
    throw refusal(`there is ${which} in ${configDir}`, {
      ...(known.length > 0 && { hint: `there is ${known.join(', ')}` }),
    });
  }
  if (others.length > 0) {
    throw refusal(
      `there are several networks of ${source}: ${found.map(({ list }) => list.name).join(', ')}`,
      {
        hint: 'say which one with --network',
      },
    );
  }
  return { list: loadNetworkFile(only.path), path: only.path };
}

async function ofFlannel(list: NetworkConfigList, path: string, links: readonly Link[]): Promise<Former> {
  const raw = list.plugins[0]?.raw ?? {};
  const { env, delegate, subnetFile } = flannelNetwork(list.name, raw);
  const other = links.find((link) => isUnsupported(link));
  if (other !== undefined) {
    throw refusal(`Flannel's backend with the device ${other.name} cannot be taken over`, {
      hint: 'vxlan and host-gw can; change the backend first, or drain the node and use `heddle up`',
    });
  }
  const overlays = links.filter(isFlannelVxlan).map(({ name }) => name);
  return {
    ...ofPlugin('flannel', list.name, path, delegate),
    read: [subnetFile],
    subnets: env.subnets,
    ranges: env.networks.filter((range) => env.subnets.some((subnet) => range.contains(subnet.network))),
    overlays,
    encapsulation: overlays.length > 0 ? 'always' : 'never',
    natOutgoing: true,
  };
}

function ofHostLocal(list: NetworkConfigList, path: string): Former {
  const raw = list.plugins[0]?.raw ?? {};
  const ranges = configuredPools(raw)
    ?.rangeSets.flat()
    .map(({ subnet }) => subnet);
  if (ranges === undefined) throw refusal(`network ${list.name} in ${path}: its ranges are not valid`);
  const subnets = ranges.filter((each, index) => ranges.findIndex((one) => one.equals(each)) === index);
  return {
    ...ofPlugin('host-local', list.name, path, raw),
    ...{ read: [], subnets, ranges: subnets, overlays: [] },
    ...{ encapsulation: 'cross-subnet', natOutgoing: true },
  };
}

/** What of it the plugin with host-local's addresses says. */
function ofPlugin(source: Source, network: string, config: string, raw: Readonly<Record<string, unknown>>) {
  const { type, bridge, ipam } = raw;
  const ipamType = isJsonObject(ipam as never) ? (ipam as { readonly type?: unknown }).type : undefined;
  if ((type !== 'bridge' && type !== 'ptp') || ipamType !== 'host-local') {
    throw refusal(
      `network ${network} in ${config}: its pods are attached by ${type} with addresses of ${ipamType}`,
      { hint: 'bridge and ptp with host-local can be taken over' },
    );
  }
  if (type === 'bridge' && raw['vlan'] !== undefined && raw['vlan'] !== 0) {
    throw refusal(`network ${network} in ${config}: its pods are in a VLAN of the bridge`);
  }
  const dataDir = configuredPools(raw as never)?.dataDir ?? DEFAULT_DATA_DIR;
  return {
    ...{ source, network, config, reservations: join(dataDir, network) },
    ...(type === 'bridge' && {
      bridge: typeof bridge === 'string' && bridge !== '' ? bridge : DEFAULT_BRIDGE,
    }),
  };
}

/** That of the plugin bridge. */
const DEFAULT_BRIDGE = 'cni0';

function isFlannelVxlan({ name, kind }: Link): boolean {
  return kind === 'vxlan' && /^flannel(-v6)?\.\d+$/.test(name);
}

/** Devices of Flannel's other backends: udp, wireguard, ipip. */
function isUnsupported(link: Link): boolean {
  return link.name.startsWith('flannel') && !isFlannelVxlan(link);
}

/** Where the configuration of a network goes that was taken over. */
export function asidePath(
  { config }: Pick<Former, 'config'>,
  { aside }: Pick<FormerPlaces, 'aside'>,
): string {
  return join(aside, basename(config));
}

/** A node that cannot be taken over, and why. */
export function refusal(why: string, options: { readonly hint?: string } = {}): CommandError {
  return new CommandError(EXIT.IN_THE_WAY, `nothing was changed: ${why}`, options);
}
