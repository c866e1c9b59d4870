/**
 * The plugin `host-device`: gives the container a device of the host, as a whole, until it is deleted. The device
 * is named by its link, its hardware address, its path in sysfs or its place on a bus.
 */
import { definePlugin, type Plugin } from '@heddle/cni/plugin';
import { add } from './add.ts';
import { check } from './check.ts';
import { hostDeviceConfig } from './config.ts';
import { del } from './del.ts';
import { gc } from './gc.ts';
import { status } from './status.ts';
import { Sysfs } from './sysfs.ts';

/** The plugin; see the comment of this module. */
export const hostDevice = hostDeviceOn(new Sysfs());

/** The same over another sysfs. */
export function hostDeviceOn(sysfs: Sysfs): Plugin {
  return definePlugin({
    type: 'host-device',
    kind: 'main',
    about: 'a device of the host, moved into the container',
    config: hostDeviceConfig,
    capabilities: ['deviceID'],
    add: (call) => add(call, sysfs),
    del: (call) => del(call, sysfs),
    check: (call) => check(call, sysfs),
    gc: (call) => gc(call, sysfs),
    status: (call) => status(call, sysfs),
  });
}
