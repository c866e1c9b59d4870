/** The plugins, by the `type` that configurations name them with. */
import type { Plugin } from '@heddle/cni/plugin';
import { ReservationIndexes } from '@heddle/ipam';
import { bandwidth } from './bandwidth/index.ts';
import { bridge } from './bridge/index.ts';
import type { AddressSource } from './cluster/config.ts';
import { dhcp } from './dhcp/index.ts';
import { dummy } from './dummy/index.ts';
import { firewall } from './firewall/index.ts';
import { flannel } from './flannel/index.ts';
import { heddle, heddleFrom } from './heddle/index.ts';
import { heddleIpam, heddleIpamFrom } from './heddle-ipam/index.ts';
import { hostDevice } from './host-device/index.ts';
import { HOST_LOCAL_PLACES, hostLocal, hostLocalAt } from './host-local/index.ts';
import { ipvlan } from './ipvlan/index.ts';
import { loopback } from './loopback/index.ts';
import { macvlan } from './macvlan/index.ts';
import { portmap } from './portmap/index.ts';
import { ptp } from './ptp/index.ts';
import { sbr } from './sbr/index.ts';
import { staticPlugin } from './static/index.ts';
import { tap } from './tap/index.ts';
import { tuning } from './tuning/index.ts';
import { vlan } from './vlan/index.ts';
import { vrf } from './vrf/index.ts';

/**
 * The same for a process that stays: what they have read of files they remember, for as long as it is true.
 *
 * @example const agent = new Agent({ plugins: residentPlugins(), … });
 */
export function residentPlugins({ addresses }: ResidentOptions = {}): ReadonlyMap<string, Plugin> {
  return new Map([
    ...PLUGINS,
    ['host-local', hostLocalAt({ ...HOST_LOCAL_PLACES, indexes: new ReservationIndexes() })],
    ...(addresses === undefined
      ? []
      : [heddleFrom(addresses), heddleIpamFrom(addresses)].map((plugin) => [plugin.type, plugin] as const)),
  ]);
}

/** What a process that stays has. */
export interface ResidentOptions {
  /** Where plugins take addresses of the cluster from, in a process that is a node of one. */
  readonly addresses?: AddressSource;
}

/** Every plugin that is built in. */
export const PLUGINS: ReadonlyMap<string, Plugin> = new Map(
  [
    bandwidth,
    bridge,
    dhcp,
    dummy,
    firewall,
    flannel,
    heddle,
    heddleIpam,
    hostDevice,
    hostLocal,
    ipvlan,
    loopback,
    macvlan,
    portmap,
    ptp,
    sbr,
    staticPlugin,
    tap,
    tuning,
    vlan,
    vrf,
  ].map((plugin) => [plugin.type, plugin]),
);

export { type AddressChoice, type AddressSource, bySocket } from './cluster/config.ts';
export { type FlannelNetwork, flannelNetwork } from './flannel/node-network.ts';
export { type ConfiguredPools, configuredPools } from './host-local/pools.ts';
