/** The configuration of the portmap plugin: its schema, and what its members come to together. */
import { bool, ConfigError, int } from '@heddle/cni';
import { type NatBackend, type PortMapOptions, type PortMapping, PROTOCOLS } from '@heddle/dataplane';
import { Addr } from '@heddle/netaddr';
import * as v from 'valibot';

const portMapping = v.object({
  hostPort: v.optional(int(), 0),
  containerPort: v.optional(int(), 0),
  protocol: v.optional(v.string(), ''),
  hostIP: v.optional(v.string(), ''),
});

/** The members that the portmap plugin reads. */
export const portmapConfig = v.object({
  backend: v.optional(v.string(), ''),
  snat: v.optional(bool, true),
  masqAll: v.optional(bool, false),
  markMasqBit: v.optional(int()),
  externalSetMarkChain: v.optional(v.string(), ''),
  conditionsV4: v.optional(v.array(v.string()), []),
  conditionsV6: v.optional(v.array(v.string()), []),
  runtimeConfig: v.optional(v.object({ portMappings: v.optional(v.array(portMapping), []) })),
});

/** A configuration whose members have the right types; what they say is for the functions here to judge. */
export type PortmapConfig = v.InferOutput<typeof portmapConfig>;

/**
 * The backend, and what it is to be told: nftables, unless the configuration names iptables or says something that
 * only iptables understands.
 *
 * @throws {ConfigError} for members that exclude each other
 */
export function portMapOptions(config: PortmapConfig): PortMapOptions {
  const { markMasqBit, externalSetMarkChain } = config;
  if (externalSetMarkChain !== '' && markMasqBit !== undefined) {
    throw new ConfigError('Cannot specify externalSetMarkChain and markMasqBit', { pointer: '/markMasqBit' });
  }
  if (markMasqBit !== undefined && (markMasqBit < 0 || markMasqBit > 31)) {
    throw new ConfigError('MasqMarkBit must be between 0 and 31', {
      ...{ pointer: '/markMasqBit', received: String(markMasqBit) },
    });
  }
  return {
    backend: backendOf(config),
    ...(markMasqBit !== undefined && { mark: 2 ** markMasqBit }),
    ...(externalSetMarkChain !== '' && { setMarkChain: externalSetMarkChain }),
  };
}

/**
 * The ports to publish.
 *
 * @throws {ConfigError} for a number that is no port, an unknown protocol, an address that is none
 */
export function portMappings({ runtimeConfig }: PortmapConfig): readonly PortMapping[] {
  return (runtimeConfig?.portMappings ?? []).map(({ hostPort, containerPort, protocol, hostIP }, index) => {
    const pointer = `/runtimeConfig/portMappings/${index}`;
    if (!isPort(hostPort)) throw new ConfigError(`Invalid host port number: ${hostPort}`, { pointer });
    if (!isPort(containerPort))
      throw new ConfigError(`Invalid container port number: ${containerPort}`, { pointer });
    const name = protocol === '' ? 'tcp' : protocol.toLowerCase();
    const known = PROTOCOLS.find((each) => each === name);
    if (known === undefined) {
      throw new ConfigError(`Invalid protocol of host port ${hostPort}: ${JSON.stringify(protocol)}`, {
        ...{ pointer, expected: PROTOCOLS.join(', '), hint: `ports exist in ${PROTOCOLS.join(', ')}` },
      });
    }
    const addr = hostIP === '' ? undefined : Addr.tryParse(hostIP)?.unmap();
    if (hostIP !== '' && addr === undefined) {
      throw new ConfigError(`Invalid host IP of host port ${hostPort}: ${JSON.stringify(hostIP)}`, {
        pointer,
      });
    }
    return { hostPort, containerPort, protocol: known, ...(addr !== undefined && { hostIP: addr }) };
  });
}

function isPort(number: number): boolean {
  return number >= 1 && number <= 0xffff;
}

function backendOf(config: PortmapConfig): NatBackend {
  const specific = specificMembers(config);
  const named = config.backend;
  if (named !== '' && named !== 'nftables' && named !== 'iptables') {
    throw new ConfigError(`unrecognized backend ${JSON.stringify(named)}`, {
      ...{ pointer: '/backend', expected: '"nftables" or "iptables"', received: JSON.stringify(named) },
    });
  }
  const implied = specific.iptables.length > 0 ? 'iptables' : 'nftables';
  const backend = named === '' ? implied : named;
  const other = backend === 'iptables' ? 'nftables' : 'iptables';
  if (specific[other].length === 0) return backend;
  if (named !== '') {
    const members = specific[other].join(' ');
    throw new ConfigError(
      `${named} backend was requested but configuration contains ${other}-specific options [${members}]`,
      { pointer: '/backend' },
    );
  }
  throw new ConfigError(
    `configuration mixes iptables-specific options [${specific.iptables.join(' ')}] and nftables-specific options [${specific.nftables.join(' ')}]`,
  );
}

/** The members that only one of the backends understands. Conditions are told apart by their first character. */
function specificMembers(config: PortmapConfig): Readonly<Record<NatBackend, readonly string[]>> {
  const members: Record<NatBackend, string[]> = { iptables: [], nftables: [] };
  if (config.externalSetMarkChain !== '') members.iptables.push('externalSetMarkChain');
  for (const name of ['conditionsV4', 'conditionsV6'] as const) {
    const [first] = config[name];
    if (first !== undefined) members[/^[-!]/.test(first) ? 'iptables' : 'nftables'].push(name);
  }
  return members;
}
