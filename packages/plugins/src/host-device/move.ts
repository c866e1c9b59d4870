/**
 * Moving a device between host and container, each way by one request that takes it there: a process that dies in the middle
 * leaves it on either side, with what tells its name. On the host, udev and its like see it under its own name only. While it
 * is away, its alias is the name that it had, as in the reference.
 */
import type { KernelSession, Link } from '@heddle/netlink';
import type { Away } from './away.ts';

/**
 * Moves a device of the host into the container, where it is down.
 *
 * @param name in the container
 * @param original what it is to be called again later
 */
export async function moveIn(
  host: KernelSession,
  container: KernelSession,
  device: Link,
  { name, original }: { readonly name: string; readonly original: string },
): Promise<void> {
  try {
    // The kernel renames it once it is there, or on the way if its old name is taken there.
    await host.links.set(device.index, { netns: container.handle, up: false, name, alias: original });
  } catch (error) {
    await fetchBack(host, container, device);
    throw error;
  }
}

/** What could not be renamed there any more is there all the same. */
async function fetchBack(host: KernelSession, container: KernelSession, device: Link): Promise<void> {
  if ((await host.links.find(device.name)) !== undefined) return;
  const stray = await container.links.find(device.name);
  if (stray === undefined) return;
  await container.links.set(stray.index, {
    ...{ netns: host.handle, name: device.name, up: device.up, alias: device.alias ?? '' },
  });
}

/**
 * Moves a device of the container back to the host, where it is down.
 *
 * @param name on the host
 * @throws {NetlinkError} EEXIST when the name is taken there; the device is then where and as it was
 */
export async function moveOut(
  host: KernelSession,
  container: KernelSession,
  device: Link,
  name: string,
): Promise<void> {
  const { index } = device;
  try {
    // Whoever comes after a process that died here finds the device by its alias, whatever its name is.
    await container.links.set(index, { up: false, alias: name });
    const namesake = await container.links.find(name);
    if (namesake === undefined) await container.links.set(index, { name });
    await container.links.set(index, { netns: host.handle, name, alias: '' });
  } catch (error) {
    await putBack(container, device);
    throw error;
  }
}

async function putBack({ links }: KernelSession, device: Link): Promise<void> {
  if ((await links.find(device.index)) === undefined) return;
  await links.set(device.index, { name: device.name, alias: device.alias ?? '' });
  await links.set(device.index, { up: device.up });
}

/**
 * Gives a device its name back that the kernel has put on the host when its container's namespace went.
 *
 * @returns whether the name was free
 */
export async function giveNameBack(host: KernelSession, { link, original }: Away): Promise<boolean> {
  if ((await host.links.find(original)) !== undefined) return false;
  // Older kernels rename only what is down.
  await host.links.set(link.index, { up: false });
  await host.links.set(link.index, { name: original, alias: '' });
  return true;
}
