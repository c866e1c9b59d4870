/** What stands in the kernel's tables at places of ours: how it is listed, made and deleted. */
import { ROUTE_METRIC, ROUTE_PROTOCOL, VNIS } from '@heddle/dataplane';
import { Mac, Prefix } from '@heddle/netaddr';
import type { Address, Change, FdbEntry, KernelSession, Neighbour, Route } from '@heddle/netlink';
import {
  type DesiredAddress,
  type DesiredFdb,
  type DesiredNeighbour,
  type DesiredRoute,
  fdbKey,
  neighbourKey,
  routeKey,
} from '../calculate/desired.ts';

/** The overlay devices there are, both ways. */
export interface Devices {
  readonly indexes: ReadonlyMap<string, number>;
  readonly names: ReadonlyMap<number, string>;
}

/** An object of a table. */
export type TableObject = DesiredAddress | DesiredNeighbour | DesiredFdb | DesiredRoute;

/** Something that is at a place of ours. */
export interface Found {
  readonly key: string;
  /** As the text of what is desired, where it is as desired. */
  readonly text: string;
  /** Whether it is ours to take away. */
  readonly isOwned: boolean;
  readonly remove: () => Change;
}

/** NUD_PERMANENT */
const PERMANENT = 0x80;
const MAIN_TABLE = 254;

/** What an address is, if it is on a device of ours. */
export function foundAddress(
  { plan }: KernelSession['addresses'],
  devices: Devices,
  address: Address,
): Found | undefined {
  const { link, prefix, protocol } = address;
  const device = devices.names.get(link);
  if (device === undefined || prefix.addr.isLinkLocal) return undefined;
  return {
    key: `address ${device} ${prefix.addr}`,
    text: prefix.isSingle ? '' : `/${prefix.bits}`,
    // Kernels before 5.18 do not keep who made an address.
    isOwned: protocol === ROUTE_PROTOCOL || protocol === undefined,
    remove: () => plan.delete({ link, prefix }),
  };
}

/** What a neighbour is, if it is on a device of ours. */
export function foundNeighbour(
  { plan }: KernelSession['neighbours'],
  devices: Devices,
  { link, address, mac, state, protocol }: Neighbour,
): Found | undefined {
  const device = devices.names.get(link);
  if (device === undefined) return undefined;
  const isOwned = protocol === ROUTE_PROTOCOL;
  return {
    key: neighbourKey(device, address),
    text: state === PERMANENT && isOwned ? `${mac}` : `${mac} in state ${state} of protocol ${protocol}`,
    isOwned,
    remove: () => plan.delete({ link, address }),
  };
}

/** What a forwarding entry is, if it is on a device of ours: then it is ours. */
export function foundFdb(
  { plan }: KernelSession['bridge'],
  devices: Devices,
  { link, mac, dst, state, vni, port, self }: FdbEntry,
): Found | undefined {
  const device = devices.names.get(link);
  // The entry of the MAC zero says where what has no entry goes: nobody of ours makes one.
  if (device === undefined || mac.equals(Mac.ZERO) || !self) return undefined;
  const isPlain = (state & PERMANENT) !== 0 && vni === undefined && port === undefined;
  return {
    key: fdbKey(device, mac),
    text: isPlain ? `${dst}` : `${dst} in state ${state} vni ${vni} port ${port}`,
    isOwned: true,
    remove: () => plan.deleteFdb({ link, mac, dst, self: true }),
  };
}

/** What a route is, if it is at a place of ours: in the main table, with our metric. */
export function foundRoute(
  { plan }: KernelSession['routes'],
  devices: Devices,
  route: Route,
): Found | undefined {
  if (route.table !== MAIN_TABLE || route.metric !== ROUTE_METRIC) return undefined;
  const isOwned = route.protocol === ROUTE_PROTOCOL;
  return {
    key: routeKey(route.dst),
    text: isOwned ? routeText(devices, route) : `of protocol ${route.protocol}`,
    isOwned,
    remove: () => plan.delete({ dst: route.dst, metric: ROUTE_METRIC, protocol: ROUTE_PROTOCOL }),
  };
}

function routeText({ names }: Devices, route: Route): string {
  const { type, gateway, via, link, nexthops, metrics, encap } = route;
  if (type === 'blackhole') return 'blackhole';
  if (type !== 'unicast' || nexthops !== undefined) return `${type} with ${nexthops?.length ?? 1} ways`;
  const device = link === undefined ? undefined : (names.get(link) ?? `#${link}`);
  const tunnel = encap === undefined ? '' : ` from ${encap.local} to ${encap.remote}`;
  const mtu = metrics?.mtu === undefined ? '' : ` mtu ${metrics.mtu}`;
  return `via ${gateway ?? via} dev ${device}${tunnel}${mtu}`;
}

/** The change that makes an object, whatever is there; `undefined` while its device is not there. */
export function putChange(
  session: KernelSession,
  { indexes }: Devices,
  object: TableObject,
): Change | undefined {
  switch (object.kind) {
    case 'address': {
      const link = indexes.get(object.device);
      return link === undefined ? undefined : putAddress(session, link, object);
    }
    case 'neighbour': {
      const link = indexes.get(object.device);
      const { address, mac } = object;
      if (link === undefined) return undefined;
      return session.neighbours.plan.replace({ link, address, mac, protocol: ROUTE_PROTOCOL });
    }
    case 'fdb': {
      const link = indexes.get(object.device);
      const { mac, remote } = object;
      return link === undefined
        ? undefined
        : session.bridge.plan.replaceFdb({ link, mac, dst: remote, self: true });
    }
    case 'route':
      return putRoute(session, indexes, object);
  }
}

/** The change that deletes an object that was made. */
export function dropChange(
  session: KernelSession,
  { indexes }: Devices,
  object: TableObject,
): Change | undefined {
  if (object.kind === 'route') {
    const { dst } = object;
    return session.routes.plan.delete({ dst, metric: ROUTE_METRIC, protocol: ROUTE_PROTOCOL });
  }
  // With a device goes what is on it.
  const link = indexes.get(object.device);
  if (link === undefined) return undefined;
  switch (object.kind) {
    case 'address':
      return session.addresses.plan.delete({ link, prefix: hostOf(object) });
    case 'neighbour':
      return session.neighbours.plan.delete({ link, address: object.address });
    case 'fdb':
      return session.bridge.plan.deleteFdb({ link, mac: object.mac, dst: object.remote, self: true });
  }
}

function putAddress({ addresses }: KernelSession, link: number, object: DesiredAddress): Change {
  return addresses.plan.replace({ link, prefix: hostOf(object), noDad: true, protocol: ROUTE_PROTOCOL });
}

function putRoute(
  { routes }: KernelSession,
  indexes: Devices['indexes'],
  { dst, target, mtu }: DesiredRoute,
): Change | undefined {
  const common = { dst, metric: ROUTE_METRIC, protocol: ROUTE_PROTOCOL };
  if (target.type === 'blackhole') return routes.plan.replace({ ...common, type: 'blackhole' });
  const link = target.type === 'direct' ? target.link : indexes.get(target.device);
  if (link === undefined) return undefined;
  const { gateway } = target;
  const tunnel = target.type === 'overlay' ? target.tunnel : undefined;
  return routes.plan.replace({
    ...common,
    link,
    onlink: true,
    ...(gateway.family === dst.family ? { gateway } : { via: gateway }),
    ...(mtu !== undefined && { metrics: { mtu } }),
    ...(tunnel !== undefined && { encap: { id: VNIS.cluster, ...tunnel } }),
  });
}

function hostOf({ address }: DesiredAddress): Prefix {
  return Prefix.host(address);
}
