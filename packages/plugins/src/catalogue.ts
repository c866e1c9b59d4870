/**
 * The plugins by name, without their code: that is loaded when it is needed. For a program that runs one plugin and
 * ends, where `PLUGINS`, which has them all at once, would be most of its work.
 */
import { type CniVersion, versionsFrom } from '@heddle/cni';
import type { Plugin } from '@heddle/cni/plugin';

/** A plugin, and what is known of it before it is loaded. */
export interface CataloguedPlugin {
  readonly versions: readonly CniVersion[];
  /** Loads its code. */
  load(): Promise<Plugin>;
}

/**
 * Every plugin that is built in, by the `type` that configurations name it with.
 *
 * @example const plugin = await CATALOGUE.get('bridge')?.load();
 */
export const CATALOGUE: ReadonlyMap<string, CataloguedPlugin> = new Map([
  ['bandwidth', since('0.3.0', async () => (await import('./bandwidth/index.ts')).bandwidth)],
  ['bridge', since('0.1.0', async () => (await import('./bridge/index.ts')).bridge)],
  ['dhcp', since('0.1.0', async () => (await import('./dhcp/index.ts')).dhcp)],
  ['dummy', since('0.1.0', async () => (await import('./dummy/index.ts')).dummy)],
  ['firewall', since('0.4.0', async () => (await import('./firewall/index.ts')).firewall)],
  ['flannel', since('0.1.0', async () => (await import('./flannel/index.ts')).flannel)],
  ['heddle', since('0.1.0', async () => (await import('./heddle/index.ts')).heddle)],
  ['heddle-ipam', since('0.1.0', async () => (await import('./heddle-ipam/index.ts')).heddleIpam)],
  ['host-device', since('0.1.0', async () => (await import('./host-device/index.ts')).hostDevice)],
  ['host-local', since('0.1.0', async () => (await import('./host-local/index.ts')).hostLocal)],
  ['ipvlan', since('0.1.0', async () => (await import('./ipvlan/index.ts')).ipvlan)],
  ['loopback', since('0.1.0', async () => (await import('./loopback/index.ts')).loopback)],
  ['macvlan', since('0.1.0', async () => (await import('./macvlan/index.ts')).macvlan)],
  ['portmap', since('0.1.0', async () => (await import('./portmap/index.ts')).portmap)],
  ['ptp', since('0.1.0', async () => (await import('./ptp/index.ts')).ptp)],
  ['sbr', since('0.1.0', async () => (await import('./sbr/index.ts')).sbr)],
  ['static', since('0.1.0', async () => (await import('./static/index.ts')).staticPlugin)],
  ['tap', since('0.1.0', async () => (await import('./tap/index.ts')).tap)],
  ['tuning', since('0.1.0', async () => (await import('./tuning/index.ts')).tuning)],
  ['vlan', since('0.1.0', async () => (await import('./vlan/index.ts')).vlan)],
  ['vrf', since('0.3.1', async () => (await import('./vrf/index.ts')).vrf)],
]);

function since(minimum: CniVersion, load: () => Promise<Plugin>): CataloguedPlugin {
  return { versions: versionsFrom(minimum), load };
}
