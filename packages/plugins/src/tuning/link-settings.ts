/** An interface's settings in the kernel: reading those that will change, and changing them one by one. */
import { CNI_CODE, CniError, toCniError } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import { type KernelSession, type Link, type LinkChange, NetlinkError } from '@heddle/netlink';
import type { LinkSettings } from './config.ts';

/** What the link has of the settings that are named in `wanted`. */
export function currentSettings(link: Link, wanted: LinkSettings): LinkSettings {
  return {
    ...(wanted.mac !== undefined && link.mac !== undefined && { mac: `${link.mac}` }),
    ...(wanted.promisc !== undefined && { promisc: isPromiscuous(link) }),
    ...(wanted.mtu !== undefined && { mtu: link.mtu }),
    ...(wanted.allmulti !== undefined && { allmulti: link.allmulti }),
    ...(wanted.txQLen !== undefined && { txQLen: link.txQueueLength }),
  };
}

/**
 * Whether the link was set promiscuous, as `promisc` does it. A bridge that it is a port of, or a packet sniffer,
 * counts for {@link Link.promiscuity} only: it comes and goes by itself.
 */
export function isPromiscuous({ flags }: Link): boolean {
  return (flags & IFF_PROMISC) !== 0;
}

/** One change of a link, in words. */
export interface SettingChange {
  readonly what: string;
  readonly apply: () => Promise<void>;
}

/**
 * The changes that settings come to, in the order in which they are made.
 *
 * @param index the link's, where it is known: the kernel need not be asked for it
 */
export function changesOf(
  container: KernelSession,
  name: string,
  settings: LinkSettings,
  index?: number,
): readonly SettingChange[] {
  const { mac, promisc, mtu, allmulti, txQLen } = settings;
  const change = (what: string, value: LinkChange): SettingChange => ({
    what: `set ${what} of ${name}`,
    apply: () => container.links.set(index ?? name, value),
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

/** Sets the link back to what it was, as far as it differs: each setting by itself, whatever becomes of the others. */
export async function setBack(container: KernelSession, name: string, before: LinkSettings): Promise<void> {
  const now = currentSettings(await container.links.get(name), before);
  const differing = Object.fromEntries(
    Object.entries(before).filter(([member, value]) => now[member as keyof LinkSettings] !== value),
  );
  const refused = await applyEach(changesOf(container, name, differing));
  if (refused.length > 0) throw new CniError(CNI_CODE.NETLINK, refused.join('; '));
}

/** Makes all changes that the kernel lets it make. Returns what the others came to. */
export async function applyEach(changes: readonly SettingChange[]): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const { what, apply } of changes) {
    try {
      await apply();
    } catch (error) {
      refused.push(`${what}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return refused;
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
  } catch (error) {
    if (!NetlinkError.is(error, 'EOPNOTSUPP')) throw error;
    throw await keepsItsMac(container, name, error);
  } finally {
    for (const setting of written) await sysctl.write(setting, '0');
  }
}

/** Links without a hardware address (tun, tunnels) and those that never change theirs (ifb) have no such request. */
async function keepsItsMac({ links }: KernelSession, name: string, cause: NetlinkError): Promise<CniError> {
  const { kind = 'hardware', mac } = await links.get(name);
  const why =
    mac === undefined ? 'have no hardware address' : `keep the hardware address that they have (${mac})`;
  return new CniError(CNI_CODE.NETLINK, `links of the kind ${kind} ${why}`, {
    cause,
    hint: 'leave mac out of the configuration, args and runtimeConfig of this network',
  });
}

/** linux/if.h */
const IFF_PROMISC = 0x100;
