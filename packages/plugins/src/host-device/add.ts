/** ADD: the device goes into the container, where it gets the addresses that somebody gives. */
import { CNI_CODE, CniError, type Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import { announcementSysctls } from '../interface/announce.ts';
import { applyResult } from '../interface/apply-result.ts';
import { chooseDns } from '../interface/dns.ts';
import { trySysctls } from '../interface/ipv6.ts';
import { singleResult } from '../interface/single-result.ts';
import { type Away, findReturned } from './away.ts';
import type { HostDeviceConfig } from './config.ts';
import { moveIn, moveOut } from './move.ts';
import { describeSelector, findDevice, isDpdk, selectorOf } from './selector.ts';
import type { Sysfs } from './sysfs.ts';

type Call = AddCall<HostDeviceConfig>;

/** See the file's comment. When it fails, the device is back on the host and up if it was. */
export async function add(call: Call, sysfs: Sysfs): Promise<Result> {
  const { config, ipam } = call;
  const device = isDpdk(config, sysfs) ? undefined : await deviceOf(call, sysfs);
  const link = device && (await giveAway(call, device));
  const given = ipam.type === '' ? undefined : await ipam.add();
  const dns = given === undefined ? undefined : chooseDns(config.dns, undefined);
  const result = singleResult(call, link?.mac, given, dns);
  if (link !== undefined) await setUp(call, link, result);
  return result;
}

async function deviceOf({ config, host }: Call, sysfs: Sysfs): Promise<Away> {
  const selector = selectorOf(config, sysfs);
  const link = await findDevice(host, selector, sysfs);
  if (link !== undefined) return { link, original: link.name };
  const returned = await findReturned(host, selector);
  if (returned !== undefined) return returned;
  throw new CniError(
    CNI_CODE.NOT_FOUND,
    `failed to find physical interface: the host has none ${describeSelector(selector)}`,
    { hint: "a container may have it: it is back on the host after that one's DEL" },
  );
}

async function giveAway(call: Call, { link: device, original }: Away): Promise<Link> {
  const { host, container, ifName: name, undo } = call;
  if ((await container.links.find(name)) !== undefined) {
    throw new CniError(
      CNI_CODE.EXISTS,
      `cannot move ${device.name} into ${call.netnsPath}: an interface ${name} already exists there`,
    );
  }
  await moveIn(host, container, device, { name, original });
  undo.push(`return ${original}`, async () => {
    await moveOut(host, container, await container.links.get(name), original);
    await host.links.set(original, { up: device.up, alias: device.alias ?? '' });
  });
  return container.links.get(name);
}

async function setUp(call: Call, link: Link, result: Result): Promise<void> {
  const { container, ifName } = call;
  if (result.ips === undefined) {
    await container.links.set(link.index, { up: true });
    return;
  }
  await trySysctls(container, announcementSysctls(ifName));
  await applyResult(container, link, result, {
    duplicateDetection: true,
    announced: true,
    warn: (message) => call.warn(message),
  });
}
