/** What of nodes stands in the store, and under which keys. */
import type { Labels } from '@heddle/ipam/blocks';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import { jsonCodec, parsed, type ValueCodec } from '@heddle/store';
import * as v from 'valibot';

/** What a node tells the others. Written by it alone. */
export interface NodeRecord {
  readonly name: string;
  /** The machine's id, or what stands for it: tells two machines of one name apart. */
  readonly instance: string;
  /** Its own addresses between nodes, with the prefix of their segment; at most one of a family. */
  readonly underlay: readonly Prefix[];
  /** The MTU of the link that these are on, in bytes. */
  readonly mtu: number;
  /** The overlay device's; at most one address of a family, and none while the node needs no overlay. */
  readonly tunnel: { readonly mac: Mac; readonly addresses: readonly Addr[] };
  /** What pools select nodes by. */
  readonly labels: Labels;
  /** Of the software. */
  readonly version: string;
  /** When it joined, in milliseconds since the epoch, by its own clock. */
  readonly since: number;
}

/** That a node has joined and has not left. It stands without a lease. */
export interface MemberRecord {
  readonly name: string;
  /** As in {@link NodeRecord}. */
  readonly instance: string;
  /** Milliseconds since the epoch. */
  readonly joined: number;
  /** When somebody saw that it is gone, in milliseconds since the epoch: to be shown, not to be counted from. */
  readonly gone?: number;
}

const ROOT = '/heddle';

/** Keys. Names are written so that none can contain a slash. */
export const NODE_KEYS = {
  /** Living nodes: each entry is bound to its node's lease. */
  nodes: `${ROOT}/nodes/`,
  node: (name: string) => `${ROOT}/nodes/${encodeURIComponent(name)}`,
  members: `${ROOT}/members/`,
  member: (name: string) => `${ROOT}/members/${encodeURIComponent(name)}`,
} as const;

const onePerFamily = <T extends { readonly family: 4 | 6 }>(items: readonly T[]): boolean =>
  new Set(items.map(({ family }) => family)).size === items.length;
const list = <S extends v.GenericSchema<unknown, { readonly family: 4 | 6 }>>(item: S) =>
  v.pipe(
    v.array(item),
    v.check((items) => onePerFamily(items), 'Expected at most one of each family'),
    v.readonly(),
  );

/** The schema of a record about a node. */
export const nodeCodec: ValueCodec<NodeRecord> = jsonCodec(
  'node',
  v.object({
    name: v.string(),
    instance: v.string(),
    underlay: list(parsed('a prefix', Prefix.tryParse)),
    mtu: v.pipe(v.number(), v.safeInteger(), v.minValue(68)),
    tunnel: v.object({
      mac: parsed('a MAC address', Mac.tryParse),
      addresses: list(parsed('an address', Addr.tryParse)),
    }),
    labels: v.record(v.string(), v.string()),
    version: v.string(),
    since: v.number(),
  }),
);

/** The schema of a record of membership. */
export const memberCodec: ValueCodec<MemberRecord> = jsonCodec(
  'membership',
  v.object({
    name: v.string(),
    instance: v.string(),
    joined: v.number(),
    gone: v.exactOptional(v.number()),
  }),
);
