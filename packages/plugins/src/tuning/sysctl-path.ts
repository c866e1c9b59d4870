/** From the names of kernel parameters in configurations to files below `/proc/sys/net`. Pure. */
import { ConfigError } from '@heddle/cni';

/**
 * The parameter's path below `/proc/sys`. Parts are separated by dots or slashes; in a name whose first separator is
 * a slash, a dot stands for itself. The first `IFNAME` stands for the interface.
 *
 * @throws {ConfigError} for what is not below `net`
 * @example sysctlPath('net.ipv4.conf.IFNAME.arp_filter', 'net1.100') // 'net/ipv4/conf/net1.100/arp_filter'
 */
export function sysctlPath(key: string, ifName: string): string {
  if (ifName.includes('/')) throw new ConfigError(`invalid character in interface name: ${ifName}`);
  const [separator] = /[./]/.exec(key) ?? [];
  const [first, ...rest] = key.split(separator === '/' ? '/' : /[./]/);
  const parts = first === '' ? rest : [first ?? '', ...rest];
  const isBelowNet = parts.length > 1 && parts[0] === 'net';
  if (!isBelowNet || parts.some((part) => ['', '.', '..'].includes(part))) {
    throw new ConfigError(`invalid net sysctl key: ${JSON.stringify(key)}`, {
      pointer: '/sysctl',
      expected: 'a parameter below net, such as net.ipv4.conf.IFNAME.arp_filter',
      received: JSON.stringify(key),
    });
  }
  // Last, so that the dots of the name stay; and by a function, so that its dollar signs do.
  return parts.join('/').replace('IFNAME', () => ifName);
}

/**
 * The values by their paths.
 *
 * @throws {ConfigError} for two names of one parameter
 */
export function sysctlsByPath(
  sysctls: ReadonlyMap<string, string>,
  ifName: string,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of sysctls) {
    const path = sysctlPath(key, ifName);
    if (found.has(path)) {
      throw new ConfigError(`duplicated sysctl key ${JSON.stringify(key)}: another one means ${path} too`, {
        pointer: '/sysctl',
      });
    }
    found.set(path, value);
  }
  return found;
}
