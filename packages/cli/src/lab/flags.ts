/** The flags of `heddle lab`, and the lab that they ask for. */
import { type LabSpec, specOf, TOPOLOGIES, type Topology } from '@heddle/lab';
import type { CommonFlags } from '../command.ts';

const FAMILIES = ['ipv4', 'ipv6', 'dual'] as const;
const ENCAPSULATIONS = ['never', 'always', 'cross-subnet'] as const;
const OVERLAYS = ['vxlan', 'geneve', 'ipip'] as const;
const STORES = ['sqlite', 'etcd', 'etcd-3'] as const;
const WIRINGS = ['heddle', 'by-hand'] as const;

/** What can be said on the command line. */
export interface LabFlags extends CommonFlags {
  readonly lab?: string;
  readonly nodes: number;
  readonly topology: Topology;
  readonly pods: number;
  readonly mtu?: number;
  readonly families: (typeof FAMILIES)[number];
  readonly podFamilies?: (typeof FAMILIES)[number];
  readonly store: (typeof STORES)[number];
  readonly encapsulation: (typeof ENCAPSULATIONS)[number];
  readonly overlay: (typeof OVERLAYS)[number];
  readonly wiring: (typeof WIRINGS)[number];
  readonly from?: readonly string[];
  readonly to?: readonly string[];
  readonly hosts?: boolean;
  readonly timeout: number;
}

const choice = <const T extends readonly string[]>(values: T, brief: string, standard: T[number]) =>
  ({ kind: 'enum', values, brief: `${brief}: ${values.join(', ')}`, default: standard }) as const;

const count = (brief: string, placeholder: string, standard: string) =>
  ({ kind: 'parsed', parse: wholeNumber, brief, placeholder, default: standard }) as const;

/** Their declarations. */
export const LAB_FLAGS = {
  lab: {
    kind: 'parsed',
    parse: String,
    brief: 'which lab, where there are several (default: default)',
    placeholder: 'name',
    optional: true,
  },
  nodes: count('up: how many nodes', 'number', '3'),
  topology: choice(TOPOLOGIES, 'up: how nodes lie to each other', 'one-segment'),
  pods: count('up: how many pods each node has', 'number', '1'),
  mtu: {
    kind: 'parsed',
    parse: wholeNumber,
    brief: 'up: of the network between nodes (default 1500)',
    placeholder: 'bytes',
    optional: true,
  },
  families: choice(FAMILIES, 'up: addresses of the network between nodes', 'dual'),
  podFamilies: {
    kind: 'enum',
    values: FAMILIES,
    brief: `up: addresses of pods, where others than those of nodes: ${FAMILIES.join(', ')}`,
    optional: true,
  },
  store: choice(STORES, 'up: where nodes find each other', 'sqlite'),
  encapsulation: choice(ENCAPSULATIONS, 'up: when packets between nodes are wrapped', 'cross-subnet'),
  overlay: choice(OVERLAYS, 'up: in what', 'vxlan'),
  wiring: choice(WIRINGS, 'up: who routes between nodes, their agents or the lab itself', 'heddle'),
  from: {
    kind: 'parsed',
    parse: String,
    brief: 'matrix: a pod that asks, or a node with its pods; may be repeated',
    placeholder: 'name',
    variadic: true,
    optional: true,
  },
  to: {
    kind: 'parsed',
    parse: String,
    brief: 'matrix: a pod that is asked, or a node with its pods; may be repeated',
    placeholder: 'name',
    variadic: true,
    optional: true,
  },
  hosts: {
    kind: 'boolean',
    brief: 'matrix: ask nodes too, not only pods',
    optional: true,
    withNegated: false,
  },
  timeout: count('matrix: milliseconds until silence counts as such', 'ms', '2000'),
} as const;

/** The lab that flags ask for. */
export function specOfFlags(flags: LabFlags): LabSpec {
  const { nodes, topology, mtu, pods, families, podFamilies, store, encapsulation, overlay, wiring } = flags;
  return specOf({
    ...{ nodes, topology, mtu, pods, families, store },
    ...(podFamilies !== undefined && { podFamilies }),
    network: { wiring, encapsulation, overlay },
  });
}

function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new SyntaxError(`expected a number, got ${JSON.stringify(text)}`);
  return Number(text);
}
