/** What the tests of host-device stand on: devices of a host, and a sysfs that lists some. */

import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '@heddle/sys';
import { type PluginLab, StubIpam } from '../testing/index.ts';
import { hostDeviceOn } from './index.ts';
import { Sysfs } from './sysfs.ts';

/** The hardware address of {@link addDevice}'s device. */
export const MAC = '02:00:00:00:d0:01';

/** Gives the host a device and connects it to another of its links, so that it has a carrier. */
export function addDevice(lab: PluginLab, name = 'hd0', mac = MAC): void {
  const wire = `${name}w`;
  lab.host.run(
    'ip',
    'link',
    'add',
    name,
    'address',
    mac,
    'mtu',
    '1400',
    'type',
    'veth',
    'peer',
    'name',
    wire,
  );
  for (const each of [name, wire]) lab.host.run('ip', 'link', 'set', each, 'up');
}

/** What makes a device the one it is, as `ip link` shows it; `undefined` when the host has none of that name. */
export async function onHost(lab: PluginLab, name = 'hd0'): Promise<object | undefined> {
  const link = await lab.host.session.links.find(name);
  if (link === undefined) return undefined;
  const { mac, mtu, alias, up } = link;
  return { name: link.name, mac: `${mac}`, mtu, alias, up };
}

/** A directory laid out as sysfs is. */
export class FakeSysfs {
  readonly root: string;

  constructor(lab: PluginLab) {
    this.root = join(lab.directory, 'sys');
  }

  /** The plugin that reads it. */
  get plugin() {
    return hostDeviceOn(new Sysfs(this.root));
  }

  /** Adds a device, with interfaces in a directory below it, and a driver. */
  add(
    bus: string,
    id: string,
    options: { links?: readonly string[]; below?: string; driver?: string },
  ): void {
    const device = join(this.root, 'bus', bus, 'devices', id);
    makeDirectory(device);
    for (const link of options.links ?? []) {
      makeDirectory(join(device, options.below ?? '.', 'net', link));
    }
    if (options.driver === undefined) return;
    const driver = join(this.root, 'bus', bus, 'drivers', options.driver);
    makeDirectory(driver);
    symlinkSync(driver, join(device, 'driver'));
  }
}

/** An address management plugin that gives one address of each family. */
export function dualStack(): StubIpam {
  return new StubIpam({
    ips: [
      { address: '10.1.2.2/24', gateway: '10.1.2.1' },
      { address: 'fd00::2/64', gateway: 'fd00::1' },
    ],
    routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
  });
}
