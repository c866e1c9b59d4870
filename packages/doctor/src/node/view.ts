/** A node as it is at one moment: everything that the checks look at is listed once, in bulk. */
import type { ListedNetworks, NetworkConfigList } from '@heddle/cni';
import { type CachedAttachment, listConfigDir, ResultCache } from '@heddle/cni/runtime';
import type { Address, KernelSession, Link, Route } from '@heddle/netlink';
import { type ListedAttachment, listAttachments } from '../inventory/attachments.ts';
import { hasNetns } from '../inventory/netns.ts';
import { type NetworkReservation, readReservations, reservationDirs } from '../inventory/reservations.ts';
import { lookIntoPods, type PodView } from './pods.ts';
import type { NodePorts } from './ports.ts';
import { Ruleset } from './ruleset.ts';

/** See the file's comment. */
export interface NodeView {
  readonly ports: NodePorts;
  /** Open while the checks run. */
  readonly host: KernelSession;
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  /** Of all tables. */
  readonly routes: readonly Route[];
  readonly ruleset: Ruleset;
  readonly networks: ListedNetworks;
  readonly cached: readonly CachedAttachment[];
  readonly reservations: readonly NetworkReservation[];
  readonly attachments: readonly ListedAttachment[];
  /** The attachments whose namespace could be looked into, and some whose could not. */
  readonly pods: readonly PodView[];
  /** A kernel parameter of the node's namespace; `undefined` when there is none. */
  sysctl(name: string): Promise<string | undefined>;
}

/** What to look at. */
export interface ViewOptions {
  /** Only the attachments to this network. */
  readonly network?: string | undefined;
}

/**
 * Looks at a node.
 *
 * @param host stays the caller's, and open as long as the view is used
 */
export async function viewNode(
  ports: NodePorts,
  host: KernelSession,
  { network }: ViewOptions = {},
): Promise<NodeView> {
  const { places } = ports;
  const all = listConfigDir(places.configDir);
  const networks = { ...all, networks: all.networks.filter(({ list }) => isWanted(list, network)) };
  const links = await host.links.list();
  const cached = new ResultCache(places.cacheDir).attachments();
  const lists = all.networks.map(({ list }) => list);
  const reservations = readReservations(reservationDirs(places.reservationDir, lists), () => undefined);
  const attachments = listAttachments({ cached, links, reservations, hasNetns }).filter(
    (each) => network === undefined || each.network === network,
  );
  return {
    ...{ ports, host, links, networks, cached, reservations, attachments },
    addresses: await host.addresses.list(),
    routes: await host.routes.list(),
    ruleset: new Ruleset(host),
    pods: await lookIntoPods(attachments, { cached, links }),
    sysctl: (name) => sysctlOf(host, name),
  };
}

/** A kernel parameter; `undefined` when there is none. */
async function sysctlOf({ sysctl }: KernelSession, name: string): Promise<string | undefined> {
  return (await sysctl.has(name)) ? await sysctl.read(name) : undefined;
}

function isWanted({ name }: NetworkConfigList, network: string | undefined): boolean {
  return network === undefined || name === network;
}
