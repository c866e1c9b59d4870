/**
 * Moving a device between host and container, through a namespace in between. Only there it changes its name:
 * on the host udev and its like would see it under a name that is not its own, and in the container its old name
 * may be taken. While it is away, its alias is the name that it had, as in the reference.
 */
import type { AttachmentCall } from '@heddle/cni/plugin';
import type { KernelSession, Link } from '@heddle/netlink';
import { createNetns } from '@heddle/sys';
import type { Away } from './away.ts';

type Call = Pick<AttachmentCall<unknown>, 'host' | 'openSession'>;

/**
 * Moves a device of the host into the container, where it is down.
 *
 * @param name in the container
 * @param original what it is to be called again later
 */
export async function moveIn(
  call: Call,
  container: KernelSession,
  device: Link,
  { name, original }: { readonly name: string; readonly original: string },
): Promise<void> {
  const { host } = call;
  const to = { name, alias: original };
  await throughWaypoint(call, { device, from: host, to: container, change: to });
}

/**
 * Moves a device of the container back to the host, where it is down.
 *
 * @param name on the host
 * @throws {NetlinkError} EEXIST when the name is taken there; the device is then where and as it was
 */
export async function moveOut(
  call: Call,
  container: KernelSession,
  device: Link,
  name: string,
): Promise<void> {
  await throughWaypoint(call, { device, from: container, to: call.host, change: { name, alias: '' } });
}

interface Move {
  readonly device: Link;
  readonly from: KernelSession;
  readonly to: KernelSession;
  readonly change: { readonly name: string; readonly alias: string };
}

async function throughWaypoint(call: Call, { device, from, to, change }: Move): Promise<void> {
  using netns = createNetns();
  using waypoint = call.openSession(netns);
  try {
    await from.links.set(device.index, { netns, up: false, ...change });
    await waypoint.links.set(change.name, { netns: to.handle });
  } catch (error) {
    await turnBack(waypoint, from, device);
    throw error;
  }
}

/** Whatever is in between would be lost with the namespace, or come back under a name that nobody expects. */
async function turnBack(waypoint: KernelSession, from: KernelSession, device: Link): Promise<void> {
  for (const { index, name } of await waypoint.links.list()) {
    if (name === 'lo') continue;
    await waypoint.links.set(index, { name: device.name, alias: device.alias ?? '' });
    await waypoint.links.set(index, { netns: from.handle, up: device.up });
  }
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
