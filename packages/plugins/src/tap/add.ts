/** ADD: the device in the container, with addresses where somebody gives some. */
import { CNI_CODE, CniError, type Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import { announcementSysctls } from '../interface/announce.ts';
import { applyResult } from '../interface/apply-result.ts';
import { chooseDns } from '../interface/dns.ts';
import { trySysctls } from '../interface/ipv6.ts';
import { singleResult } from '../interface/single-result.ts';
import { randomMac } from '../interface/veth.ts';
import { requestedMac, type TapConfig } from './config.ts';
import { makeTap } from './device.ts';
import { hasSelinux, makeLabelledTap } from './labelled.ts';

type Call = AddCall<TapConfig>;

/** See the file's comment. Whatever fails, the call's undo stack takes back what was done. */
export async function add(call: Call): Promise<Result> {
  const { config, ipam } = call;
  const bridge = config.bridge === '' ? undefined : await bridgeOf(call);
  const link = await makeLink(call, bridge);
  const given = ipam.type === '' ? undefined : await ipam.add();
  const result = singleResult(call, link.mac, given, chooseDns(config.dns, undefined));
  await setUp(call, link, result);
  return result;
}

/** The bridge that the device is to be a port of. */
async function bridgeOf({ config, container }: Call): Promise<Link> {
  const bridge = await container.links.find(config.bridge);
  if (bridge?.kind === 'bridge') return bridge;
  const what = bridge === undefined ? 'there is no such link' : 'that is no bridge';
  throw new CniError(CNI_CODE.NOT_FOUND, `bridge ${config.bridge} in the container: ${what}`);
}

async function makeLink(call: Call, bridge: Link | undefined): Promise<Link> {
  const { config, container, ifName, undo } = call;
  if ((await container.links.find(ifName)) !== undefined) {
    throw new CniError(
      CNI_CODE.EXISTS,
      `cannot make tap device ${ifName}: the container has such an interface`,
    );
  }
  make(call);
  undo.push(`delete link ${ifName}`, () => container.links.delete(ifName));
  await container.links.set(ifName, {
    // The kernel's own choice would be as random, but open to be replaced by whatever watches for new links.
    mac: requestedMac(config, call.args['MAC']) ?? randomMac(call.random),
    ...(config.mtu > 0 && { mtu: config.mtu }),
    ...(bridge !== undefined && { master: bridge.index }),
  });
  return container.links.get(ifName);
}

function make(call: Call): void {
  const { config, netns, ifName } = call;
  const { selinuxContext } = config;
  if (selinuxContext !== '' && hasSelinux()) {
    makeLabelledTap(netns, ifName, config, selinuxContext);
    return;
  }
  if (selinuxContext !== '') call.warn('selinuxContext has no effect: the kernel has no SELinux');
  makeTap(netns, ifName, config);
}

async function setUp(call: Call, link: Link, result: Result): Promise<void> {
  const { container, ifName } = call;
  if (result.ips === undefined) {
    await container.links.set(link.index, { up: true });
    return;
  }
  await trySysctls(container, announcementSysctls(ifName));
  await applyResult(container, link, result, {
    // Until somebody opens the device there is nobody to ask, and the addresses could not be used.
    duplicateDetection: false,
    announced: true,
    warn: (message) => call.warn(message),
  });
}
