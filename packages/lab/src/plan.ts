/** From what a lab is asked to be to what is made: hosts with their addresses, pods with their names. Pure. */
import { Addr, Prefix } from '@heddle/netaddr';
import type { FamilyChoice, ResolvedLabSpec } from './spec.ts';

/** A switch. */
export interface SegmentPlan {
  readonly name: string;
  readonly mtu: number;
  /** Milliseconds. */
  readonly delay: number;
  /** From 0 to 1. */
  readonly loss: number;
  /** The router's addresses on it; packets to other segments go there. */
  readonly gateways: readonly Prefix[];
}

/** A machine of the lab: a node, or one that keeps the store. */
export interface HostPlan {
  readonly name: string;
  readonly segment: string;
  readonly addresses: readonly Prefix[];
}

/** A machine that has pods. */
export interface NodePlan extends HostPlan {
  readonly pods: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Where the pods' addresses come from when they are wired by hand. */
  readonly podRanges: readonly Prefix[];
}

/** Everything that a lab has. */
export interface LabPlan {
  readonly segments: readonly SegmentPlan[];
  readonly nodes: readonly NodePlan[];
  readonly etcd: readonly HostPlan[];
  readonly podFamilies: readonly (4 | 6)[];
  readonly store: 'sqlite' | 'etcd';
  readonly network: ResolvedLabSpec['network'];
}

/** Works out what to make. Addresses are from the ranges for tests of networks (RFC 2544), and unique local ones. */
export function planLab(spec: ResolvedLabSpec): LabPlan {
  const underlay = familiesOf(spec.families);
  const names = Object.keys(spec.segments);
  const address = (segment: string, host: number): readonly Prefix[] =>
    underlay.map((family) => addressOn(names.indexOf(segment) + 1, host, family));
  const members = { sqlite: 0, etcd: 1, 'etcd-3': 3 }[spec.store];
  const [first = ''] = names;
  return {
    segments: Object.entries(spec.segments).map(([name, segment]) => ({
      ...{ name, mtu: segment.mtu, delay: segment.delay, loss: segment.loss },
      gateways: address(name, 1),
    })),
    nodes: Object.entries(spec.nodes).map(([name, node], index) => ({
      ...{ name, segment: node.segment, labels: node.labels },
      addresses: address(node.segment, FIRST_NODE + index),
      pods: Array.from({ length: node.pods ?? spec.pods }, (_, pod) => podName(name, index, pod)),
      podRanges: POD_RANGES.map((range) => range(index + 1)).filter(({ family }) =>
        familiesOf(spec.podFamilies ?? spec.families).includes(family),
      ),
    })),
    etcd: Array.from({ length: members }, (_, index) => ({
      ...{ name: `etcd${index + 1}`, segment: first },
      addresses: address(first, FIRST_MEMBER + index),
    })),
    podFamilies: familiesOf(spec.podFamilies ?? spec.families),
    store: spec.store === 'sqlite' ? 'sqlite' : 'etcd',
    network: spec.network,
  };
}

/** The families that a choice stands for. */
function familiesOf(choice: FamilyChoice): readonly (4 | 6)[] {
  return choice === 'dual' ? [4, 6] : [choice === 'ipv4' ? 4 : 6];
}

const FIRST_NODE = 11;
const FIRST_MEMBER = 201;

/** What `cluster` gives nodes when there is nobody who gives blocks: a /24 and a /64 each. */
const POD_RANGES = [
  (index: number) => Prefix.of(Addr.parse(`10.244.${index}.0`), 24),
  (index: number) => Prefix.of(Addr.parse(`fd00:10:244:${index.toString(16)}::`), 64),
] as const;

function addressOn(segment: number, host: number, family: 4 | 6): Prefix {
  return family === 4
    ? Prefix.of(Addr.parse(`198.18.${segment}.${host}`), 24)
    : Prefix.of(Addr.parse(`fd00:198:18:${segment.toString(16)}::${host.toString(16)}`), 64);
}

function podName(node: string, index: number, pod: number): string {
  const number = /^node(\d+)$/.exec(node)?.[1] ?? String(index + 1);
  return `pod${number}-${pod + 1}`;
}
