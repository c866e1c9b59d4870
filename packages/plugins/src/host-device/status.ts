/** STATUS: whether an ADD would find what it needs. */
import type { StatusCall } from '@heddle/cni/plugin';
import type { HostDeviceConfig } from './config.ts';
import { selectorOf } from './selector.ts';
import type { Sysfs } from './sysfs.ts';

/**
 * That the device is not on the host is no problem of the network: the container has it that it is for.
 *
 * @throws {ConfigError} when nothing names a device; else what address management says
 */
export async function status({ config, ipam }: StatusCall<HostDeviceConfig>, sysfs: Sysfs): Promise<void> {
  selectorOf(config, sysfs);
  if (ipam.type !== '') await ipam.status();
}
