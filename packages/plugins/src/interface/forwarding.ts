/** Makes the host a router for the families of a network. */
import type { KernelSession } from '@heddle/netlink';

/**
 * Lets the host forward packets of a family. The setting is shared and stays; it is written only where it is
 * not on already, for a write resets other settings of the namespace.
 *
 * @throws {SysError} when the setting cannot be read or written
 */
export async function enableForwarding(host: KernelSession, family: 4 | 6): Promise<void> {
  const setting = family === 4 ? 'net/ipv4/ip_forward' : 'net/ipv6/conf/all/forwarding';
  if ((await host.sysctl.read(setting)) !== '1') await host.sysctl.write(setting, '1');
}
