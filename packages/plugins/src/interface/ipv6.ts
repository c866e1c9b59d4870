/** The IPv6 settings of a container's interface: sysctls, for netlink does not have them. */
import { CNI_CODE, CniError } from '@heddle/cni';
import type { Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';

/**
 * Makes an interface ready for its first IPv6 address: IPv6 is switched on for it and for `lo` where the
 * namespace's default has it off, and addresses survive the interface going down.
 *
 * @param prefix the address, for messages
 * @throws {CniError} naming the address, when the kernel has no IPv6 or its settings cannot be written
 */
export async function enableIpv6(
  container: KernelSession,
  ifName: string,
  prefix: Prefix,
  warn: (message: string) => void,
): Promise<void> {
  for (const name of ['lo', ifName]) {
    const setting = `net/ipv6/conf/${name}/disable_ipv6`;
    const disabled = await readable(container, setting);
    if (disabled === undefined) warn(`cannot read ${setting}: taking IPv6 to be enabled`);
    else if (disabled !== '0') await write(container, setting, '0', ifName, prefix);
  }
  await write(container, `net/ipv6/conf/${ifName}/keep_addr_on_down`, '1', ifName, prefix);
}

/** Writes settings that are good to have; those that do not exist, for instance without IPv6, are passed over. */
export async function trySysctls(
  session: KernelSession,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  try {
    await session.sysctl.tryWrite(values);
  } catch {
    // The interface works as far as it can.
  }
}

async function readable(container: KernelSession, setting: string): Promise<string | undefined> {
  try {
    return await container.sysctl.read(setting);
  } catch {
    return undefined;
  }
}

async function write(
  container: KernelSession,
  setting: string,
  value: string,
  ifName: string,
  prefix: Prefix,
): Promise<void> {
  try {
    await container.sysctl.write(setting, value);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CniError(CNI_CODE.SYSTEM, `cannot enable IPv6 on ${ifName} for ${prefix}: ${why}`, {
      cause,
      hint: 'give the network no IPv6 range, or run it where the kernel has IPv6',
    });
  }
}
