/** Published ports of a container, in the form that every backend starts from. */
import { ConfigError } from '@heddle/cni';
import type { Addr, Prefix } from '@heddle/netaddr';

/** The protocols whose ports can be published. */
export const PROTOCOLS = ['tcp', 'udp', 'sctp'] as const;

/** One of {@link PROTOCOLS}. */
export type Protocol = (typeof PROTOCOLS)[number];

/** A port of the node that leads to a port of the container. */
export interface PortMapping {
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: Protocol;
  /**
   * The address of the node that the port is published on. Absent: all, of both families; `0.0.0.0` or `::`: all of
   * one family.
   */
  readonly hostIP?: Addr;
}

/** The published ports of one container. */
export interface PortMaps {
  readonly mappings: readonly PortMapping[];
  /** The container's addresses, at most one of each family, with the prefix length of their network. */
  readonly targets: readonly Prefix[];
  /** Masquerade what would not find its way back: from the container's own network, and from 127.0.0.1. */
  readonly snat: boolean;
  /** With `snat`: masquerade whatever comes by a published port, wherever it comes from. */
  readonly masqAll: boolean;
  /** Further conditions in the words of nft (or iptables, with that backend), by family. */
  readonly conditions?: { readonly 4?: readonly string[]; readonly 6?: readonly string[] };
}

/**
 * The mappings that apply to a family, each once. IPv6 has no way around the rule that packets of `::1` stay on the
 * loopback link (nothing like `route_localnet`), so a mapping on `::1` leads nowhere: there is none.
 *
 * @throws {ConfigError} when one port is mapped to two.
 */
export function mappingsOf(family: 4 | 6, mappings: readonly PortMapping[]): readonly PortMapping[] {
  const byHostPort = new Map<string, PortMapping>();
  for (const mapping of mappings) {
    if (mapping.hostIP !== undefined && mapping.hostIP.family !== family) continue;
    if (family === 6 && isUnreachable(mapping)) continue;
    const key = describeHostPort(mapping);
    const other = byHostPort.get(key);
    if (other !== undefined && other.containerPort !== mapping.containerPort) {
      throw new ConfigError(
        `host port ${key} is mapped twice, to port ${other.containerPort} and to port ${mapping.containerPort}`,
      );
    }
    if (other === undefined) byHostPort.set(key, mapping);
  }
  return [...byHostPort.values()];
}

/** True for a mapping that no packet can take: one on `::1`. */
export function isUnreachable({ hostIP }: PortMapping): boolean {
  return hostIP !== undefined && hostIP.family === 6 && hostIP.isLoopback;
}

/** The address that a mapping is limited to, if it is. */
export function boundTo({ hostIP }: PortMapping): Addr | undefined {
  return hostIP === undefined || hostIP.isUnspecified ? undefined : hostIP;
}

/** A mapping's host side in words, `8080/tcp` or `[2001:db8::1]:8080/tcp`. */
export function describeHostPort(mapping: PortMapping): string {
  const { hostPort, protocol } = mapping;
  const addr = boundTo(mapping);
  if (addr === undefined) return `${hostPort}/${protocol}`;
  return `${addr.family === 6 ? `[${addr}]` : addr}:${hostPort}/${protocol}`;
}
