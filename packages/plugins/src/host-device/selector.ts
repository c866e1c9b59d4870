/** Which device a configuration means, and which link that is. */
import { normalize } from 'node:path';
import { CNI_CODE, CniError, ConfigError } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import type { KernelSession, Link } from '@heddle/netlink';
import type { HostDeviceConfig } from './config.ts';
import type { Sysfs } from './sysfs.ts';

/** What names a device. */
export type Selector =
  | { readonly by: 'name'; readonly name: string }
  | { readonly by: 'mac'; readonly mac: Mac }
  | { readonly by: 'path'; readonly path: string }
  | { readonly by: 'bus'; readonly bus: 'pci' | 'auxiliary'; readonly id: string };

/**
 * What names the configuration's device.
 *
 * @throws {ConfigError} when nothing does, or a path that is not one of a device
 */
export function selectorOf(config: HostDeviceConfig, sysfs: Sysfs): Selector {
  const { device, hwaddr, kernelpath } = config;
  if (device !== '') return { by: 'name', name: device };
  if (hwaddr !== '') return { by: 'mac', mac: Mac.parse(hwaddr) };
  if (kernelpath !== '') return { by: 'path', path: checkedPath(kernelpath) };
  const bus = onBus(config, sysfs);
  if (bus !== undefined) return bus;
  throw new ConfigError('specify either "device", "hwaddr", "kernelpath" or "pciBusID"', {
    pointer: '',
    hint: 'the capability deviceID will do as well',
  });
}

/**
 * Whether the device is driven by a process of the container's (DPDK): there is no link then, and nothing to move.
 *
 * @throws {CniError} code 140 when it has no driver at all
 */
export function isDpdk(config: HostDeviceConfig, sysfs: Sysfs): boolean {
  const device = onBus(config, sysfs);
  if (device?.bus !== 'pci') return false;
  const driver = sysfs.driverOf(device.bus, device.id);
  if (driver === undefined) {
    throw new CniError(CNI_CODE.NOT_FOUND, `PCI device ${device.id} does not exist, or has no driver`);
  }
  return DPDK_DRIVERS.has(driver);
}

/** The link of the device, in a namespace; sysfs lists those of the host. */
export async function findDevice(
  host: KernelSession,
  selector: Selector,
  sysfs: Sysfs,
): Promise<Link | undefined> {
  switch (selector.by) {
    case 'name':
      return host.links.find(selector.name);
    case 'mac':
      return (await host.links.list()).find(({ mac }) => mac?.equals(selector.mac));
    case 'path':
      return named(host, sysfs.interfaceAt(selector.path));
    case 'bus':
      return named(host, sysfs.interfaceOf(selector.bus, selector.id));
  }
}

/** The selector in words. */
export function describeSelector(selector: Selector): string {
  switch (selector.by) {
    case 'name':
      return selector.name;
    case 'mac':
      return `with the hardware address ${selector.mac}`;
    case 'path':
      return `at ${selector.path}`;
    case 'bus':
      return `of the ${selector.bus} device ${selector.id}`;
  }
}

const DPDK_DRIVERS: ReadonlySet<string> = new Set(['vfio-pci', 'uio_pci_generic', 'igb_uio']);

async function named(host: KernelSession, name: string | undefined): Promise<Link | undefined> {
  return name === undefined ? undefined : host.links.find(name);
}

function onBus(
  { pciBusID, runtimeConfig }: HostDeviceConfig,
  sysfs: Sysfs,
): Extract<Selector, { by: 'bus' }> | undefined {
  const id = runtimeConfig?.deviceID ?? '';
  if (id === '') return pciBusID === '' ? undefined : { by: 'bus', bus: 'pci', id: pciBusID };
  const bus = (['pci', 'auxiliary'] as const).find((each) => sysfs.has(each, id));
  if (bus !== undefined) return { by: 'bus', bus, id };
  throw new CniError(CNI_CODE.NOT_FOUND, `device ${id} is neither a PCI device nor an auxiliary one`, {
    hint: 'the runtime chose it by the capability deviceID',
  });
}

function checkedPath(path: string): string {
  const clean = normalize(path);
  if (clean.startsWith('/sys/devices/')) return clean;
  throw new ConfigError(`kernelpath ${JSON.stringify(path)} is no path below /sys/devices/`, {
    pointer: '/kernelpath',
    expected: 'a path that begins with /sys/devices/',
    received: JSON.stringify(path),
  });
}
