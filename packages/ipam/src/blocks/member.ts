/** Who works with the addresses of the cluster, on what, and how changes are made. */
import {
  type Change,
  type Condition,
  type Entry,
  type Revision,
  type Store,
  StoreError,
  type ValueCodec,
} from '@heddle/store';
import { IpamError } from '../ipam-error.ts';
import type { Block, Moment } from './block.ts';
import type { Pool } from './pool.ts';
import {
  type Affinity,
  affinityCodec,
  blockCodec,
  DEFAULT_SETTINGS,
  type IpamSettings,
  KEYS,
  poolCodec,
  settingsCodec,
} from './records.ts';
import { type Labels, parseSelector } from './selector.ts';

/** A node of the cluster, or whoever works on its behalf. */
export interface Member {
  readonly store: Store;
  /** Its name, which no other node has. */
  readonly node: string;
  /** What pools select nodes by. */
  readonly labels?: Labels;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * How many milliseconds ago such a moment was; by the difference to now when left out, which a clock that is set meanwhile
   * gets wrong, and which is negative for a moment that only another clock has shown.
   */
  readonly age?: (moment: number) => number;
  /**
   * What must hold in the store while the member takes anything: that its own entry is there, as it was written. A
   * node that was taken for dead, and is not, then notices.
   */
  readonly presence?: Condition;
}

/** Something in the store, and the commit that wrote it. */
export interface Stored<T> {
  readonly value: T;
  readonly revision: Revision;
}

/** Pools and settings, as they are at the moment. */
export interface Cluster {
  readonly pools: readonly Pool[];
  readonly settings: IpamSettings;
}

/** How often others may be faster before somebody gives up. */
const ATTEMPTS = 100;
/** How often the store may be away in a row. */
const OUTAGES = 3;

/** A key that must stay as it is while something is done, and the error for when it does not. */
export interface Guard {
  readonly key: string;
  readonly broken: () => IpamError;
  /** Whether it may hold again: whoever wrote the key meanwhile was the member itself. */
  readonly isRenewed?: () => boolean;
}

/** What keeps a member that was taken for dead from going on. */
export function presenceGuard(member: Member, what: string): Guard | undefined {
  const { presence, node } = member;
  if (presence === undefined) return undefined;
  let { revision } = presence;
  const hint = 'its lease ran out or it was removed; let it join again';
  const message = `${what}: node ${node} is not a member of the cluster any more`;
  return {
    key: presence.key,
    broken: () => new IpamError('IPAM_NODE_LOST', message, { hint }),
    isRenewed: () => {
      const before = revision;
      revision = member.presence?.revision ?? 0;
      return revision !== before;
    },
  };
}

/** Tries until nobody else changed the same things meanwhile. Work must be such that doing it again does no harm. */
export async function attempts<T>(
  what: string,
  guard: Guard | undefined,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let outages = 0;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!StoreError.is(error)) throw error;
      if (guard !== undefined && error.keys.includes(guard.key) && guard.isRenewed?.() !== true) {
        throw guard.broken();
      }
      // Whether it happened is seen at the next attempt.
      const isUnknown = error.mayHaveHappened && ++outages < OUTAGES;
      if (error.code !== 'STORE_CONFLICT' && !isUnknown) throw error;
    }
  }
  throw new IpamError('IPAM_BUSY', `${what}: others were faster ${ATTEMPTS} times`);
}

/** Makes changes that take something for the member. */
export function commitAs(
  { store, presence }: Member,
  conditions: readonly Condition[],
  changes: readonly Change[],
): Promise<Revision> {
  const all = presence === undefined ? conditions : [...conditions, presence];
  return store.commit({ conditions: all, changes });
}

/** What stands under a key. */
export async function read<T>(
  store: Store,
  codec: ValueCodec<T>,
  key: string,
): Promise<Stored<T> | undefined> {
  const entry = await store.get(key);
  return entry === undefined ? undefined : decoded(codec, entry);
}

/** What stands below a prefix. */
export async function readAll<T>(
  store: Store,
  codec: ValueCodec<T>,
  prefix: string,
): Promise<readonly Stored<T>[]> {
  const { entries } = await store.list(prefix);
  return entries.map((entry) => decoded(codec, entry));
}

/** Pools and settings, as they stand in the store. @throws {StoreError} as the store does */
export async function readCluster({ store }: Pick<Member, 'store'>): Promise<Cluster> {
  const pools = await readAll(store, poolCodec, KEYS.pools);
  const settings = await read(store, settingsCodec, KEYS.settings);
  return { pools: pools.map(({ value }) => value), settings: settings?.value ?? DEFAULT_SETTINGS };
}

/** The blocks of one family that the member has, wants or gives up. */
export async function readAffinities(
  { store, node }: Member,
  pools: readonly Pool[],
): Promise<readonly Stored<Affinity>[]> {
  const all = await readAll(store, affinityCodec, KEYS.affinitiesOf(node));
  return all.filter(({ value }) => pools.some(({ name }) => name === value.pool));
}

/** The block as it is. */
export function readBlock({ store }: Member, { pool, cidr }: Pick<Affinity, 'pool' | 'cidr'>) {
  return read<Block>(store, blockCodec, KEYS.block(pool, cidr));
}

/** Which pools the member may take new addresses of a family from. */
export function poolsFor({ labels = {} }: Member, { pools }: Cluster, family: 4 | 6): readonly Pool[] {
  const refuse = (why: string) => new IpamError('IPAM_POOL_INVALID', why);
  return pools.filter(
    ({ cidr, disabled, nodeSelector }) =>
      cidr.family === family && !disabled && parseSelector(nodeSelector, refuse)(labels),
  );
}

/** When addresses may be given again. */
export function momentOf(member: Member, { coolDownSeconds }: IpamSettings): Moment {
  return { age: (moment) => ageOf(member, moment), coolDown: coolDownSeconds * 1000 };
}

/** How many milliseconds ago a moment was. */
export function ageOf({ now, age }: Member, moment: number): number {
  return age === undefined ? now() - moment : age(moment);
}

/** The change that writes a block. */
export function putBlock(block: Block): Change {
  return { put: KEYS.block(block.pool, block.cidr), value: blockCodec.encode(block) };
}

/** The change that writes an affinity. */
export function putAffinity(affinity: Affinity): Change {
  return { put: KEYS.affinity(affinity.node, affinity.cidr), value: affinityCodec.encode(affinity) };
}

/** The changes that delete a block. */
export function deleteBlock({ pool, cidr }: Block): readonly Change[] {
  return [{ delete: KEYS.block(pool, cidr) }, { put: KEYS.deletions, value: '' }];
}

function decoded<T>(codec: ValueCodec<T>, entry: Entry): Stored<T> {
  return { value: codec.decode(entry), revision: entry.revision };
}
