/** The plugins, by the `type` that configurations name them with. */
import type { Plugin } from '@heddle/cni/plugin';
import { bandwidth } from './bandwidth/index.ts';
import { bridge } from './bridge/index.ts';
import { dhcp } from './dhcp/index.ts';
import { dummy } from './dummy/index.ts';
import { firewall } from './firewall/index.ts';
import { flannel } from './flannel/index.ts';
import { hostDevice } from './host-device/index.ts';
import { hostLocal } from './host-local/index.ts';
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

/** Every plugin that is built in. */
export const PLUGINS: ReadonlyMap<string, Plugin> = new Map(
  [
    bandwidth,
    bridge,
    dhcp,
    dummy,
    firewall,
    flannel,
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

export { type ConfiguredPools, configuredPools } from './host-local/pools.ts';
