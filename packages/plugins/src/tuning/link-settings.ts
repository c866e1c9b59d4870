/** An interface's settings in the kernel: reading those that will change, and changing them one by one. */
import { CniError, toCniError } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import type { KernelSession, Link, LinkChange } from '@heddle/netlink';
import type { LinkSettings } from './config.ts';

/** What the link has of the settings that are named in `wanted`. */
export function currentSettings(link: Link, wanted: LinkSettings): LinkSettings {
  return {
    ...(wanted.mac !== undefined && link.mac !== undefined && { mac: `${link.mac}` }),
    ...(wanted.promisc !== undefined && { promisc: link.promiscuity > 0 }),
    ...(wanted.mtu !== undefined && { mtu: link.mtu }),
    ...(wanted.allmulti !== undefined && { allmulti: link.allmulti }),
    ...(wanted.txQLen !== undefined && { txQLen: link.txQueueLength }),
  };
}

/** One change of a link, in words. */
export interface SettingChange {
  readonly what: string;
  readonly apply: () => Promise<void>;
}

/** The changes that settings come to, in the order in which they are made. */
export function changesOf(
  container: KernelSession,
  name: string,
  settings: LinkSettings,
): readonly SettingChange[] {
  const { mac, promisc, mtu, allmulti, txQLen } = settings;
  const change = (what: string, value: LinkChange): SettingChange => ({
    what: `set ${what} of ${name}`,
    apply: () => container.links.set(name, value),
  });
  return [
    ...(mac === undefined
      ? []
      : [{ what: `set mac ${mac} of ${name}`, apply: () => setMac(container, name, Mac.parse(mac)) }]),
    ...(promisc === undefined ? [] : [change(`promisc ${promisc}`, { promiscuous: promisc })]),
    ...(mtu === undefined ? [] : [change(`mtu ${mtu}`, { mtu })]),
    ...(allmulti === undefined ? [] : [change(`allmulti ${allmulti}`, { allmulti })]),
    ...(txQLen === undefined ? [] : [change(`txQLen ${txQLen}`, { txQueueLength: txQLen })]),
  ];
}

/** Makes all changes. @throws {CniError} naming the first one that the kernel refused */
export async function applyAll(changes: readonly SettingChange[]): Promise<void> {
  for (const { what, apply } of changes) {
    try {
      await apply();
    } catch (cause) {
      const { cniCode, message } = toCniError(cause);
      throw new CniError(cniCode, `${what}: ${message}`, { cause });
    }
  }
}

/** The kernel parameters that are touched, and set back, when a hardware address is set. */
export function announcementSettings(name: string): readonly string[] {
  return [`net/ipv4/conf/${name}/arp_notify`, `net/ipv6/conf/${name}/ndisc_notify`];
}

/**
 * Sets the hardware address, and has the kernel tell the neighbours: they have heard the one that the main plugin
 * gave, and would go on sending there.
 */
async function setMac(container: KernelSession, name: string, mac: Mac): Promise<void> {
  const { sysctl, links } = container;
  const written: string[] = [];
  try {
    for (const setting of announcementSettings(name)) {
      if (!(await sysctl.has(setting)) || (await sysctl.read(setting)) !== '0') continue;
      await sysctl.write(setting, '1');
      written.push(setting);
    }
    await links.set(name, { mac });
  } finally {
    for (const setting of written) await sysctl.write(setting, '0');
  }
}
