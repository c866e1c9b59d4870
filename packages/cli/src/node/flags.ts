/** The flags of the commands that make this machine a node, and unmake it. */
import { NODE_CONFIG } from '@heddle/agent';
import { type Encapsulation, MOST_AHEAD, type Overlay } from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';
import type { CommonFlags } from '../command.ts';

const ENCAPSULATIONS = ['never', 'always', 'cross-subnet'] as const satisfies readonly Encapsulation[];
const OVERLAYS = ['vxlan', 'geneve', 'ipip'] as const satisfies readonly Overlay[];

/** Where the node's configuration is. */
export interface ConfigFlags extends CommonFlags {
  readonly config?: string;
}

/** What a node's configuration is made from. */
export interface NodeFlags extends ConfigFlags {
  readonly name?: string;
  readonly store?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly user?: string;
  readonly passwordFile?: string;
  readonly label?: readonly (readonly [name: string, value: string])[];
  readonly interface?: string;
  readonly subnet?: readonly Prefix[];
}

/** What every command that makes this machine a node can be told. */
export interface JoinFlags extends Omit<NodeFlags, 'subnet'> {
  readonly pool?: readonly Prefix[];
  readonly serviceCidr?: readonly Prefix[];
}

/** How new pools are. */
export interface NewPoolFlags {
  readonly encapsulation: Encapsulation;
  readonly overlay: Overlay;
  readonly natOutgoing: boolean;
}

/** What `heddle up` can be told. */
export interface UpFlags extends JoinFlags, NewPoolFlags {
  readonly subnet?: readonly Prefix[];
  readonly keepAhead?: number;
  readonly start: boolean;
}

const text = (brief: string, placeholder: string) =>
  ({ kind: 'parsed', parse: String, brief, placeholder, optional: true }) as const;

/** The declaration of {@link ConfigFlags}. */
export const CONFIG_FLAGS = {
  config: text(`the node's configuration (default ${NODE_CONFIG})`, 'file'),
} as const;

/** The declaration of {@link JoinFlags}. */
export const JOIN_FLAGS = {
  name: text("the node's name, which no other one has (default: the host's)", 'name'),
  store: text('where nodes find each other: sqlite:///path (default) or etcd://host:port,host:port', 'url'),
  ca: text('who must have signed the certificates of etcd: a file in PEM', 'file'),
  cert: text("this node's certificate for etcd", 'file'),
  key: text('its key', 'file'),
  user: text('whom etcd knows this node as', 'name'),
  passwordFile: text('a file with the password for that', 'file'),
  label: {
    kind: 'parsed',
    parse: labelOf,
    brief: 'what pools select nodes by; may be repeated',
    placeholder: 'name=value',
    variadic: true,
    optional: true,
  },
  interface: text('the link that other nodes are reached by (default: that of the default route)', 'link'),
  pool: {
    kind: 'parsed',
    parse: Prefix.parse,
    brief: "a range for pods' addresses, where the cluster has none of that family; may be repeated",
    placeholder: 'prefix',
    variadic: true,
    optional: true,
  },
  serviceCidr: {
    kind: 'parsed',
    parse: Prefix.parse,
    brief: "a range of services' addresses, which no pool may overlap; may be repeated",
    placeholder: 'prefix',
    variadic: true,
    optional: true,
  },
  ...CONFIG_FLAGS,
} as const;

/** The declaration of {@link NewPoolFlags}. */
export const NEW_POOL_FLAGS = {
  encapsulation: {
    kind: 'enum',
    values: ENCAPSULATIONS,
    brief: `of new pools: when packets between nodes are wrapped: ${ENCAPSULATIONS.join(', ')}`,
    default: 'cross-subnet',
  },
  overlay: {
    kind: 'enum',
    values: OVERLAYS,
    brief: `of new pools: in what: ${OVERLAYS.join(', ')}`,
    default: 'vxlan',
  },
  natOutgoing: {
    kind: 'boolean',
    brief: 'of new pools: leave the addresses of packets that leave the cluster',
    default: true,
  },
} as const;

/** The declaration of {@link UpFlags}. */
export const UP_FLAGS = {
  ...JOIN_FLAGS,
  subnet: {
    kind: 'parsed',
    parse: Prefix.parse,
    brief:
      "a part of a pool that is this node's; with the first one all nodes of the cluster keep to theirs; may be repeated",
    placeholder: 'prefix',
    variadic: true,
    optional: true,
  },
  ...NEW_POOL_FLAGS,
  keepAhead: {
    kind: 'parsed',
    parse: aheadOf,
    brief:
      'have every node of the cluster claim blocks before it needs them: so many addresses are free on each; 0: as they need them',
    placeholder: 'addresses',
    optional: true,
  },
  start: { kind: 'boolean', brief: 'write everything, and start no agent', default: true },
} as const;

function aheadOf(given: string): number {
  const value = Number(given);
  if (given.trim() === '' || !Number.isInteger(value) || value < 0 || value > MOST_AHEAD) {
    throw new SyntaxError(`expected a number of addresses, at most ${MOST_AHEAD}, got ${given}`);
  }
  return value;
}

function labelOf(given: string): readonly [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/.exec(given) ?? [];
  if (name === undefined || value === undefined) throw new SyntaxError(`expected name=value, got ${given}`);
  return [name, value];
}
