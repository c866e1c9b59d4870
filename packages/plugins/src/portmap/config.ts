/** The configuration of the portmap plugin: its schema, and what its members come to together. */
import { bool, ConfigError, int, ipText } from '@heddle/cni';
import { type NatBackend, type PortMapOptions, type PortMapping, PROTOCOLS } from '@heddle/dataplane';
import { Addr } from '@heddle/netaddr';
import * as v from 'valibot';

const port = v.pipe(int(), v.metadata({ minimum: 1, maximum: 65535 }));

const portMapping = v.pipe(
  v.object({
    hostPort: v.pipe(v.optional(port, 0), v.description('the port of the host')),
    containerPort: v.pipe(v.optional(port, 0), v.description('the port of the container')),
    protocol: v.pipe(
      v.optional(v.string(), ''),
      v.description('in any letter case'),
      v.metadata({
        enum: ['', ...PROTOCOLS, ...PROTOCOLS.map((name) => name.toUpperCase())],
        default: 'tcp',
      }),
    ),
    hostIP: v.pipe(
      v.optional(ipText(), ''),
      v.description('the address of the host; all of them unless set'),
    ),
  }),
  v.metadata({ required: ['hostPort', 'containerPort'] }),
);

/** The members that the portmap plugin reads. */
export const portmapConfig = v.object({
  backend: v.pipe(
    v.optional(v.string(), ''),
    v.description(
      'what publishes the ports; nftables, or iptables where another member needs it, unless set',
    ),
    v.metadata({ enum: ['', 'nftables', 'iptables'] }),
  ),
  snat: v.pipe(
    v.optional(bool, true),
    v.description('whether a container can reach its own published ports, and the host can by 127.0.0.1'),
  ),
  masqAll: v.pipe(
    v.optional(bool, false),
    v.description('whether all connections to published ports are masqueraded'),
  ),
  markMasqBit: v.pipe(
    v.optional(int()),
    v.description('with iptables: the bit of the packet mark that stands for masquerading'),
    v.metadata({ minimum: 0, maximum: 31, default: 13 }),
  ),
  externalSetMarkChain: v.pipe(
    v.optional(v.string(), ''),
    v.description('with iptables: a chain of somebody else that marks packets for masquerading'),
  ),
  conditionsV4: v.pipe(
    v.optional(v.array(v.string()), []),
    v.description('words to add to the rules for IPv4, in the language of the backend'),
  ),
  conditionsV6: v.pipe(
    v.optional(v.array(v.string()), []),
    v.description('words to add to the rules for IPv6, in the language of the backend'),
  ),
  runtimeConfig: v.optional(
    v.object({
      portMappings: v.pipe(v.optional(v.array(portMapping), []), v.description('the ports to publish')),
    }),
  ),
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
