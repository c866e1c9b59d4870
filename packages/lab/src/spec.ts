/** What a lab is asked to be: segments, nodes on them, how nodes find each other, and how pods are wired. */
import * as v from 'valibot';

const name = v.pipe(
  v.string(),
  v.regex(
    /^[a-z]([-a-z0-9]{0,10}[a-z0-9])?$/,
    'expected a name of at most 12 lower-case letters, digits and dashes',
  ),
);

const families = v.picklist(['ipv4', 'ipv6', 'dual']);

/** A network that nodes are on: what one switch makes. */
const segment = v.strictObject({
  /** Of everything on it, in bytes. */
  mtu: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1280), v.maxValue(65535)), 1500),
  /** How long each frame takes from the switch to a node, in milliseconds. */
  delay: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(60_000)), 0),
  /** The share of frames that get lost on that way, from 0 to 1. */
  loss: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 0),
});

const node = v.strictObject({
  segment: name,
  /** How many pods it has from the start; as `pods` of the lab says when left out. */
  pods: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))),
  labels: v.optional(v.record(v.string(), v.string()), {}),
});

const network = v.strictObject({
  /** `heddle`: agents, blocks and routes as in a cluster. `by-hand`: `ptp` and `host-local`, and routes that the lab sets. */
  wiring: v.optional(v.picklist(['heddle', 'by-hand']), 'heddle'),
  encapsulation: v.optional(v.picklist(['never', 'always', 'cross-subnet']), 'cross-subnet'),
  overlay: v.optional(v.picklist(['vxlan', 'geneve', 'ipip']), 'vxlan'),
  natOutgoing: v.optional(v.boolean(), true),
});

/** The schema of a {@link LabSpec}. */
export const labSpec = v.pipe(
  v.strictObject({
    segments: v.optional(v.record(name, segment), { a: {} }),
    nodes: v.record(name, node),
    /** Of the addresses between nodes. */
    families: v.optional(families, 'dual'),
    /** Of the pods' addresses; those of the nodes when left out. */
    podFamilies: v.optional(families),
    /** Pods of each node. */
    pods: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)), 1),
    /** Where nodes find each other: a file that all of them see, or one or three members of etcd on the first segment. */
    store: v.optional(v.picklist(['sqlite', 'etcd', 'etcd-3']), 'sqlite'),
    network: v.optional(network, {}),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { nodes, segments } = dataset.value;
    const tell = (message: string) => addIssue({ message });
    if (Object.keys(nodes).length === 0) tell('a lab has at least one node');
    if (Object.keys(nodes).length > 150) tell('a lab has at most 150 nodes');
    if (Object.keys(segments).length > 200) tell('a lab has at most 200 segments');
    for (const [each, { segment: on }] of Object.entries(nodes)) {
      if (/^(router|pod|etcd)/.test(each))
        tell(`node ${each}: names that begin with router, pod or etcd are taken`);
      if (segments[on] === undefined) tell(`node ${each}: there is no segment ${on}`);
    }
  }),
);

/** What a lab is asked to be. */
export type LabSpec = v.InferInput<typeof labSpec>;

/** The same with every default filled in. */
export type ResolvedLabSpec = v.InferOutput<typeof labSpec>;

/** Which families of addresses. */
export type FamilyChoice = v.InferOutput<typeof families>;

/** How nodes lie to each other, for {@link specOf}. */
export const TOPOLOGIES = ['one-segment', 'two-segments', 'three-segments', 'segment-each'] as const;

/** See {@link TOPOLOGIES}. */
export type Topology = (typeof TOPOLOGIES)[number];

/**
 * The usual labs: so many nodes, dealt out to the segments in turn.
 *
 * @example specOf({ nodes: 5, topology: 'two-segments', store: 'etcd' })
 */
export function specOf({
  nodes,
  topology = 'one-segment',
  mtu,
  ...others
}: {
  readonly nodes: number;
  readonly topology?: Topology | undefined;
  readonly mtu?: number | undefined;
} & Omit<LabSpec, 'nodes' | 'segments'>): LabSpec {
  const count = { 'one-segment': 1, 'two-segments': 2, 'three-segments': 3, 'segment-each': nodes }[topology];
  const segments = Array.from({ length: Math.min(count, nodes) }, (_, index) => `s${index + 1}`);
  return {
    ...others,
    segments: Object.fromEntries(segments.map((each) => [each, mtu === undefined ? {} : { mtu }])),
    nodes: Object.fromEntries(
      Array.from({ length: nodes }, (_, index) => [
        `node${index + 1}`,
        { segment: segments[index % segments.length] ?? 's1' },
      ]),
    ),
  };
}
