import type { Result } from '@heddle/cni';
import type { PortMaps } from '@heddle/dataplane';
import { Prefix } from '@heddle/netaddr';
import { type PortmapConfig, portMappings } from './config.ts';

/** What a configuration publishes of a container. @throws {ConfigError} for mappings that are not valid */
export function publishedBy(config: PortmapConfig, ifName: string, result: Result | undefined): PortMaps {
  return {
    mappings: portMappings(config),
    targets: result === undefined ? [] : targetsIn(result, ifName),
    snat: config.snat,
    masqAll: config.masqAll,
    conditions: { 4: config.conditionsV4, 6: config.conditionsV6 },
  };
}

/**
 * Where published ports lead: the first address of each family that is the container's, by the interface that it is
 * on, or that is on no interface which the result knows.
 */
export function targetsIn({ ips = [], interfaces = [] }: Result, ifName: string): readonly Prefix[] {
  const own = ips
    .filter((ip) => {
      const holder = ip.interface === undefined ? undefined : interfaces[ip.interface];
      return holder === undefined || (holder.name === ifName && (holder.sandbox ?? '') !== '');
    })
    .map(({ address }) => Prefix.parse(address));
  return ([4, 6] as const).flatMap((family) => own.find((prefix) => prefix.family === family) ?? []);
}
