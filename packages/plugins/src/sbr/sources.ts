/** The addresses of a container whose packets are routed by where they come from. Pure. */
import { ConfigError, type Result } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';

/** An address with its network, and the way out of that. */
export interface Source {
  readonly prefix: Prefix;
  readonly gateway?: Addr;
}

/**
 * The addresses of the interface. Those that the result gives to no interface that it lists count as well.
 *
 * @throws {ConfigError} when there are none
 */
export function sourcesOf({ ips = [], interfaces = [] }: Result, ifName: string): readonly Source[] {
  const sources = ips
    .filter(({ interface: index = -1 }) => (interfaces[index]?.name ?? ifName) === ifName)
    .map(({ address, gateway }) => ({
      prefix: Prefix.parse(address),
      ...(gateway !== undefined && gateway !== '' && { gateway: Addr.parse(gateway) }),
    }));
  if (sources.length > 0) return sources;
  throw new ConfigError(`the previous result has no addresses of ${ifName}`, { pointer: '/prevResult/ips' });
}
