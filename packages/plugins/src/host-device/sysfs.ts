/** Devices as sysfs lists them (Documentation/ABI/testing/sysfs-class-net, sysfs-bus-pci in the kernel's sources). */
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

/** See the file's comment. Nothing here throws for what is not there. */
export class Sysfs {
  readonly #root: string;

  /** @param root where sysfs is mounted */
  constructor(root = '/sys') {
    this.#root = root;
  }

  /** Whether a bus, such as `pci`, has a device of that identifier. */
  has(bus: string, id: string): boolean {
    return existsSync(this.#device(bus, id));
  }

  /** The network interface of a device; of several the first by name. */
  interfaceOf(bus: string, id: string): string | undefined {
    const device = this.#device(bus, id);
    // A virtio device is a child of its PCI device, and the interface is the child's.
    const children = entriesOf(device).filter((name) => name.startsWith('virtio'));
    for (const place of [device, ...children.map((name) => join(device, name))]) {
      const [first] = entriesOf(join(place, 'net'));
      if (first !== undefined) return first;
    }
    return undefined;
  }

  /** The same for the device behind a path, which begins with `/sys/`. */
  interfaceAt(path: string): string | undefined {
    return entriesOf(join(this.#root, path.replace(/^\/sys\//, ''), 'net'))[0];
  }

  /** The driver that a device is bound to. */
  driverOf(bus: string, id: string): string | undefined {
    try {
      return basename(readlinkSync(join(this.#device(bus, id), 'driver')));
    } catch {
      return undefined;
    }
  }

  #device(bus: string, id: string): string {
    return join(this.#root, 'bus', bus, 'devices', id);
  }
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
