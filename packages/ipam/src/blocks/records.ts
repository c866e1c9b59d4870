/** What of address management stands in the store, and under which keys. */
import { Addr, AddrRange, Prefix } from '@heddle/netaddr';
import { jsonCodec, parsed } from '@heddle/store';
import * as v from 'valibot';
import type { Block } from './block.ts';
import { type Pool, resolvePool } from './pool.ts';

const ROOT = '/heddle/ipam';

/** Keys. Names are written so that none can contain a slash. */
export const KEYS = {
  all: `${ROOT}/`,
  settings: `${ROOT}/settings`,
  /** Written whenever a block is deleted, so that whoever makes one knows that none was deleted meanwhile. */
  deletions: `${ROOT}/deletions`,
  /** Written with every block that is made, so that its pool is not removed meanwhile. */
  claims: `${ROOT}/claims`,
  pools: `${ROOT}/pools/`,
  /** Written with every pool, so that two that overlap cannot be added at the same time. */
  poolChanges: `${ROOT}/pool-changes`,
  pool: (name: string) => `${ROOT}/pools/${name}`,
  blocks: `${ROOT}/blocks/`,
  blocksOf: (pool: string) => `${ROOT}/blocks/${pool}/`,
  block: (pool: string, cidr: Prefix) => `${ROOT}/blocks/${pool}/${dashed(cidr)}`,
  affinities: `${ROOT}/affinities/`,
  affinitiesOf: (node: string) => `${ROOT}/affinities/${encodeURIComponent(node)}/`,
  affinity: (node: string, cidr: Prefix) => `${KEYS.affinitiesOf(node)}${dashed(cidr)}`,
  handles: `${ROOT}/handles/`,
  handlesOf: (node: string) => `${ROOT}/handles/${encodeURIComponent(node)}/`,
  handle: (node: string, handle: string) => `${KEYS.handlesOf(node)}${encodeURIComponent(handle)}`,
} as const;

/** How a block belongs to a node. */
export type AffinityState =
  /** The node wants it; nobody else need mind, and no routes lead there. */
  | 'pending'
  /** It is the node's. */
  | 'confirmed'
  /** The node, or whoever removes it, is giving it up: routes are withdrawn, and nothing is given from it. */
  | 'pendingDeletion';

/** Which block a node has, wants or gives up. */
export interface Affinity {
  readonly node: string;
  readonly pool: string;
  readonly cidr: Prefix;
  readonly state: AffinityState;
}

/** One address of an attachment. */
export interface HandleAddress {
  readonly addr: Addr;
  readonly pool: string;
  readonly block: Prefix;
  readonly sequence: number;
}

/** All addresses of one attachment. */
export interface HandleRecord {
  readonly handle: string;
  readonly node: string;
  readonly addresses: readonly HandleAddress[];
  /** Whom they are for, in words for people: `namespace/name` of a pod. */
  readonly pod?: string;
  /** The network namespace that they are used in. */
  readonly sandbox?: SandboxRecord;
}

/** A network namespace: while its path names it, what is in there may use its addresses. */
export interface SandboxRecord {
  readonly path: string;
  /** Device and inode of the namespace's file. */
  readonly key: string;
}

/** How nodes come to blocks; see {@link IpamSettings.mode}. */
export const IPAM_MODES = ['blocks', 'cluster-pool', 'node-subnets'] as const;

/** See {@link IPAM_MODES}. */
export type IpamMode = (typeof IPAM_MODES)[number];

/** What holds for the whole cluster. */
export interface IpamSettings {
  /**
   * `blocks`: nodes claim blocks as they need them, and borrow from others' when there are none left. `cluster-pool`:
   * every node has blocks of its own, as many as keep it ahead of its need, and nothing else. `node-subnets`: every node
   * has the blocks of the subnets that it was given, and keeps them; nobody claims others.
   */
  readonly mode: IpamMode;
  /** Nodes give addresses from their own blocks only. */
  readonly strictAffinity: boolean;
  /**
   * How many addresses of each family besides those in use a node has at least in the mode `cluster-pool`, so that nobody
   * waits for a block. What it needs in all is rounded up to a multiple of this.
   */
  readonly ahead: number;
  /** How many blocks of each family a node may have in the mode `blocks`; it borrows what it needs beyond. */
  readonly maxBlocksPerNode: number;
  /** How long an address rests after it was given back, in seconds; at most 1,200. */
  readonly coolDownSeconds: number;
}

/** The largest {@link IpamSettings.ahead}: a whole range of IPv4 of the usual size. */
export const MOST_AHEAD = 65_536;

/** What holds unless something else is stored. */
export const DEFAULT_SETTINGS: IpamSettings = {
  mode: 'blocks',
  strictAffinity: false,
  ahead: 8,
  maxBlocksPerNode: 20,
  coolDownSeconds: 30,
};

const addr = parsed('an address', Addr.tryParse);
const prefix = parsed('a prefix', Prefix.tryParse);
const range = parsed('a range of addresses', (value) => {
  const [first, last] = value.split('-').map(Addr.tryParse);
  if (first === undefined || last?.family !== first.family || Addr.compare(first, last) > 0) return undefined;
  return AddrRange.of(first, last);
});
const list = <S extends v.GenericSchema>(item: S) => v.pipe(v.array(item), v.readonly());
const natural = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

export const settingsCodec = jsonCodec(
  'record of settings',
  v.object({
    mode: v.optional(v.picklist(IPAM_MODES), DEFAULT_SETTINGS.mode),
    strictAffinity: v.optional(v.boolean(), DEFAULT_SETTINGS.strictAffinity),
    ahead: v.optional(v.pipe(natural, v.minValue(1), v.maxValue(MOST_AHEAD)), DEFAULT_SETTINGS.ahead),
    maxBlocksPerNode: v.optional(v.pipe(natural, v.minValue(1)), DEFAULT_SETTINGS.maxBlocksPerNode),
    coolDownSeconds: v.optional(v.pipe(natural, v.maxValue(1200)), DEFAULT_SETTINGS.coolDownSeconds),
  }),
);

export const poolCodec = jsonCodec(
  'pool',
  v.pipe(
    v.object({
      name: v.string(),
      cidr: prefix,
      blockSize: natural,
      encapsulation: v.picklist(['never', 'always', 'cross-subnet']),
      overlay: v.picklist(['vxlan', 'geneve', 'ipip']),
      natOutgoing: v.boolean(),
      nodeSelector: v.string(),
      disabled: v.boolean(),
      reserved: list(range),
    }),
    v.transform((config): Pool => resolvePool(config)),
  ),
);

export const affinityCodec = jsonCodec(
  'block affinity',
  v.object({
    node: v.string(),
    pool: v.string(),
    cidr: prefix,
    state: v.picklist(['pending', 'confirmed', 'pendingDeletion']),
  }),
);

const handleAddress = v.object({ addr, pool: v.string(), block: prefix, sequence: natural });
export const handleCodec = jsonCodec(
  'handle',
  v.object({
    handle: v.string(),
    node: v.string(),
    addresses: list(handleAddress),
    pod: v.exactOptional(v.string()),
    sandbox: v.exactOptional(v.object({ path: v.string(), key: v.string() })),
  }),
);

const block = v.object({
  cidr: prefix,
  pool: v.string(),
  node: v.exactOptional(v.string()),
  sequence: natural,
  emptySince: v.exactOptional(v.number()),
  held: list(v.object({ ordinal: natural, handle: v.string(), node: v.string(), sequence: natural })),
  released: list(v.object({ ordinal: natural, at: v.number() })),
});
export const blockCodec = jsonCodec('block', block) satisfies { encode(value: Block): string };

function dashed(cidr: Prefix): string {
  return `${cidr.network}-${cidr.bits}`;
}
