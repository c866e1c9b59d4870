/** DEL: the device goes back to the host under its own name, and its addresses are released. */
import { CNI_CODE, CniError, toCniError } from '@heddle/cni';
import type { DelCall } from '@heddle/cni/plugin';
import type { KernelSession } from '@heddle/netlink';
import { findInContainer, findReturned } from './away.ts';
import type { HostDeviceConfig } from './config.ts';
import { giveNameBack, moveOut } from './move.ts';
import { isDpdk, type Selector, selectorOf } from './selector.ts';
import type { Sysfs } from './sysfs.ts';

type Call = DelCall<HostDeviceConfig>;

/** See the file's comment. The device is left down. */
export async function del(call: Call, sysfs: Sysfs): Promise<void> {
  const { config, ifName, ipam, teardown } = call;
  const inside = await teardown.step(`open the namespace ${call.netnsPath}`, () => call.container);
  if (!known(call, () => isDpdk(config, sysfs))) {
    const selector = known(call, () => selectorOf(config, sysfs));
    await teardown.step(`return the device ${ifName}`, () => returnDevice(call, inside, selector));
  }
  if (ipam.type !== '') await teardown.step('release the addresses', () => ipam.del());
}

/** What the configuration says, unless the device that it names has vanished in the meantime. */
function known<T>(call: Call, tell: () => T): T | undefined {
  try {
    return tell();
  } catch (error) {
    call.warn(toCniError(error).msg);
    return undefined;
  }
}

async function returnDevice(
  call: Call,
  inside: KernelSession | undefined,
  selector: Selector | undefined,
): Promise<void> {
  const { host, ifName, prevResult } = call;
  const away = inside && (await findInContainer(inside, selector, ifName, prevResult));
  if (inside !== undefined && away !== undefined) {
    const { link, original } = away;
    if ((await host.links.find(original)) !== undefined) throw taken(link.name, original);
    await moveOut(host, inside, link, original);
    return;
  }
  const returned = await findReturned(host, selector);
  if (returned === undefined || (await giveNameBack(host, returned))) return;
  call.warn(`${returned.link.name} was ${returned.original}, but the host has another link of that name now`);
}

function taken(name: string, original: string): CniError {
  return new CniError(
    CNI_CODE.EXISTS,
    `cannot return ${name} to the host as ${original}: the host has another link of that name`,
    { hint: `rename or remove that ${original}; the next DEL will succeed` },
  );
}
