/** What a kernel must have whoever the other nodes are. */
import type { Affinity, Pool } from '@heddle/ipam/blocks';
import {
  DESIRED_SOURCES,
  type DesiredLink,
  type DesiredObject,
  desiredAddress,
  desiredForward,
  desiredLink,
  desiredNat,
  desiredRoute,
  desiredSysctl,
} from './desired.ts';
import { deviceMtu, devicesFor, type OverlayDevice } from './overlays.ts';
import type { OwnNode } from './view.ts';

/** See the file's comment. @param withV6 whether there is a peer that can be reached over IPv6 only */
export function ownObjects(
  own: OwnNode,
  pools: ReadonlyMap<string, Pool>,
  affinities: Iterable<Affinity>,
  withV6: boolean,
): readonly DesiredObject[] {
  const devices = devicesFor(own.record, pools.values(), withV6);
  const objects: DesiredObject[] = [...devices.map((device) => linkOf(own, device))];
  for (const { name } of devices) {
    for (const address of own.record.tunnel.addresses) {
      if (name !== 'heddle-ipip' || address.family === 4) objects.push(desiredAddress(name, address));
    }
  }
  for (const { cidr, state, pool } of affinities) {
    // What nobody has must not leave by the default route and come back.
    if (state === 'confirmed' && pools.has(pool)) objects.push(desiredRoute(cidr, { type: 'blackhole' }));
  }
  objects.push(...sysctls(own, pools, devices));
  const all = [...pools.values()].map(({ cidr }) => cidr);
  const outgoing = [...pools.values()].filter(({ natOutgoing }) => natOutgoing);
  if (outgoing.length > 0) {
    objects.push(
      desiredNat(
        all,
        outgoing.map(({ cidr }) => cidr),
      ),
    );
  }
  if (all.length > 0) objects.push(DESIRED_SOURCES, desiredForward(all));
  return objects;
}

function linkOf({ record }: OwnNode, device: OverlayDevice): DesiredLink {
  const mtu = deviceMtu(record, device);
  const { mac } = record.tunnel;
  const local = record.underlay.find(({ family }) => device.families.includes(family))?.addr;
  if (device.overlay === 'geneve' || local === undefined) {
    return desiredLink(device.name, mtu, { kind: 'geneve', mac });
  }
  const data =
    device.overlay === 'vxlan'
      ? ({ kind: 'vxlan', local, mac } as const)
      : ({ kind: 'ipip', local } as const);
  return desiredLink(device.name, mtu, data);
}

function sysctls(
  { underlay }: OwnNode,
  pools: ReadonlyMap<string, Pool>,
  devices: readonly OverlayDevice[],
): readonly DesiredObject[] {
  const has = (family: 4 | 6) => [...pools.values()].some(({ cidr }) => cidr.family === family);
  const found: DesiredObject[] = [];
  if (has(4)) {
    found.push(desiredSysctl('net/ipv4/ip_forward', '1'));
    // Answers of a node to a pod come in by the overlay although its own address is reached by the underlay.
    for (const { name } of devices) found.push(desiredSysctl(`net/ipv4/conf/${name}/rp_filter`, '2'));
  }
  if (has(6)) {
    // A router ignores advertisements, and would lose its own default route, unless it is told not to.
    for (const linkName of new Set(underlay.addresses.map(({ linkName }) => linkName))) {
      found.push(desiredSysctl(`net/ipv6/conf/${linkName}/accept_ra`, '2', '1'));
    }
    found.push(desiredSysctl('net/ipv6/conf/all/forwarding', '1'));
  }
  return found;
}
