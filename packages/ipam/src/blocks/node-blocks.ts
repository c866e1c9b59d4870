/**
 * A node's own blocks as it remembers them. Taking an address from one, and giving it back, is one commit then, and
 * nothing is read before: the commit itself says whether all that it rests on is still as it was.
 */
import type { Addr } from '@heddle/netaddr';
import { type Change, type Condition, type Revision, StoreError } from '@heddle/store';
import {
  allocateAddresses,
  type BlockAllocation,
  type BlockRequest,
  commitChoices,
  familiesOf,
  poolsAsked,
  toAllocations,
} from './allocate.ts';
import { type Block, giveBack, nextFree, ordinalOf } from './block.ts';
import { type Choice, requireRoom } from './choose.ts';
import { keepAhead, type Reserve, reserves } from './cluster-pool.ts';
import { type ReleaseOptions, releaseHandle } from './give-back.ts';
import {
  type Cluster,
  type Member,
  momentOf,
  putBlock,
  read,
  readAffinities,
  readBlock,
  readCluster,
  type Stored,
} from './member.ts';
import { type HandleRecord, handleCodec, KEYS } from './records.ts';

/** What is remembered, and of which moment it is. */
interface Known {
  readonly cluster: Cluster;
  /** What pools and settings must still be for the rest to be worth anything. */
  readonly unchanged: readonly Condition[];
  /** By their keys. */
  readonly blocks: Map<string, Stored<Block>>;
  readonly handles: Map<string, Stored<HandleRecord>>;
}

/**
 * See the file's comment. One process of the node has one of these; others may write to the store as they like.
 *
 * @example
 * const blocks = new NodeBlocks(member);
 * await blocks.take({ handle: 'pods/c1/eth0' });
 */
export class NodeBlocks {
  readonly #member: Member;
  #known: Known | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(member: Member) {
    this.#member = member;
  }

  /** As {@link allocateAddresses}. */
  take(request: BlockRequest): Promise<readonly BlockAllocation[]> {
    return this.#inTurn(
      async () => (await this.#remembered(() => this.#takeKnown(request))) ?? (await this.#takeAnew(request)),
      request.signal,
    );
  }

  /** As {@link releaseHandle}, of the node's own handles. */
  give(handle: string, options: Omit<ReleaseOptions, 'node' | 'guard'> = {}): Promise<readonly Addr[]> {
    return this.#inTurn(
      async () =>
        (await this.#remembered(() => this.#giveKnown(handle, options))) ??
        (await releaseHandle(this.#member, handle, options)),
      options.signal,
    );
  }

  /** The node's blocks as they were at the last commit; none before the first. */
  remembered(): readonly Block[] {
    return this.#known === undefined ? [] : [...this.#known.blocks.values()].map(({ value }) => value);
  }

  /** How far ahead the node is by what is remembered; `undefined` when nothing is. See {@link reserves}. */
  reserves(): readonly Reserve[] | undefined {
    return this.#known && reserves(this.#member, this.#known.cluster, this.remembered());
  }

  /**
   * In the mode `cluster-pool`, claims blocks until the node is as far ahead as the settings say. Nobody who takes an
   * address waits for that.
   *
   * @returns how far it is then: a family is still behind when its pools have no more blocks
   */
  async keepAhead(): Promise<readonly Reserve[]> {
    const member = this.#member;
    const cluster = await readCluster(member);
    const wanted = reserves(member, cluster, []);
    if (wanted.length === 0) return [];
    const blocks: Stored<Block>[] = [];
    for (const { family } of wanted) {
      blocks.push(...(await keepAhead(member, family, cluster.settings)));
    }
    await this.#inTurn(async () => {
      const known = await this.#recall();
      const fresh = blocks.filter(({ value }) => !known.blocks.has(keyOf(value)));
      this.#remember(known, fresh);
    }, undefined);
    return reserves(
      member,
      cluster,
      blocks.map(({ value }) => value),
    );
  }

  /** @throws {IpamError} IPAM_NO_POOL when no pool is for this node */
  async requirePools(): Promise<void> {
    familiesOf(this.#member, await readCluster(this.#member), { handle: '' });
  }

  /**
   * Looks whether an address can be had of each family. It may take a look at all blocks of the pools.
   *
   * @throws {IpamError} IPAM_NO_POOL
   * @throws {PoolsExhaustedError}
   */
  async requireRoom(wanted: Pick<BlockRequest, 'families' | 'pools'>): Promise<void> {
    const request = { ...wanted, handle: '' };
    const cluster = await readCluster(this.#member);
    for (const family of familiesOf(this.#member, cluster, request)) {
      if (this.#known !== undefined && this.#choose(this.#known, family, request) !== undefined) continue;
      await requireRoom(this.#member, cluster, poolsAsked(this.#member, cluster, family, request));
    }
  }

  /** Commits of one process on the same blocks would only get into each other's way. */
  #inTurn<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const result = this.#last.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    this.#last = result.catch(() => {});
    return result;
  }

  /** What the work comes to, or nothing: then what was remembered is not so any more, and all must be read. */
  async #remembered<T>(work: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#known = undefined;
      if (StoreError.is(error, 'STORE_CONFLICT')) return undefined;
      // Whether it happened is seen when all is read.
      if (StoreError.is(error) && error.mayHaveHappened) return undefined;
      throw error;
    }
  }

  async #takeKnown(request: BlockRequest): Promise<readonly BlockAllocation[] | undefined> {
    const known = await this.#recall();
    // Who holds something already, or wants something particular, needs a look at all.
    if (known.handles.has(request.handle) || (request.addresses ?? []).length > 0) return undefined;
    const choices: Choice[] = [];
    for (const family of familiesOf(this.#member, known.cluster, request)) {
      const choice = this.#choose(known, family, request);
      if (choice === undefined) return undefined;
      choices.push(choice);
    }
    const { record, blocks } = await commitChoices(this.#member, request, choices, known.unchanged);
    this.#remember(known, blocks);
    known.handles.set(request.handle, record);
    return toAllocations(record.value);
  }

  async #takeAnew(request: BlockRequest): Promise<readonly BlockAllocation[]> {
    const allocations = await allocateAddresses(this.#member, request);
    const known = this.#known;
    if (known !== undefined) {
      const blocks = allocations.map(({ pool, block: cidr }) => readBlock(this.#member, { pool, cidr }));
      this.#remember(known, await Promise.all(blocks));
    }
    return allocations;
  }

  async #giveKnown(
    handle: string,
    { upTo = Infinity, writtenAt }: ReleaseOptions,
  ): Promise<readonly Addr[] | undefined> {
    const { node, store } = this.#member;
    const known = await this.#recall();
    const key = KEYS.handle(node, handle);
    const record = known.handles.get(handle) ?? (await read<HandleRecord>(store, handleCodec, key));
    if (record === undefined || (writtenAt !== undefined && record.revision !== writtenAt)) return undefined;
    const { addresses } = record.value;
    if (addresses.some(({ sequence }) => sequence > upTo)) return undefined;
    const after = new Map<string, Stored<Block>>();
    for (const { addr, pool, block: cidr, sequence } of addresses) {
      const blockKey = KEYS.block(pool, cidr);
      // Several addresses of one handle may be of one block.
      const block =
        after.get(blockKey) ?? known.blocks.get(blockKey) ?? (await readBlock(this.#member, { pool, cidr }));
      if (block === undefined) return undefined;
      const ordinal = ordinalOf(block.value, addr);
      const given = giveBack(block.value, { ordinal, handle, sequence }, this.#member.now());
      if (given === block.value) return undefined;
      after.set(blockKey, { value: given, revision: block.revision });
    }
    const conditions: Condition[] = [...after].map(([blockKey, { revision }]) => ({
      key: blockKey,
      revision,
    }));
    const changes: Change[] = [...after.values()].map(({ value }) => putBlock(value));
    const revision = await store.commit({
      conditions: [{ key, revision: record.revision }, ...conditions],
      changes: [{ delete: key }, ...changes],
    });
    known.handles.delete(handle);
    this.#remember(
      known,
      [...after.values()].map(({ value }) => ({ value, revision })),
    );
    return addresses.map(({ addr }) => addr);
  }

  #choose({ cluster, blocks }: Known, family: 4 | 6, request: BlockRequest): Choice | undefined {
    const pools = poolsAsked(this.#member, cluster, family, request);
    const moment = momentOf(this.#member, cluster.settings);
    for (const block of blocks.values()) {
      const pool = pools.find(({ name }) => name === block.value.pool);
      const ordinal = pool && nextFree(block.value, pool, moment);
      if (pool !== undefined && ordinal !== undefined) return { pool, block, ordinal };
    }
    return undefined;
  }

  async #recall(): Promise<Known> {
    this.#known ??= await this.#load();
    return this.#known;
  }

  async #load(): Promise<Known> {
    const member = this.#member;
    const { store } = member;
    const revisionOf = async (key: string): Promise<Revision> => (await store.get(key))?.revision ?? 0;
    // First, so that a change in between is noticed.
    const unchanged = [
      { key: KEYS.poolChanges, revision: await revisionOf(KEYS.poolChanges) },
      { key: KEYS.settings, revision: await revisionOf(KEYS.settings) },
    ];
    const cluster = await readCluster(member);
    const known: Known = { cluster, unchanged, blocks: new Map(), handles: new Map() };
    for (const { value } of await readAffinities(member, cluster.pools)) {
      if (value.state === 'confirmed') this.#remember(known, [await readBlock(member, value)]);
    }
    return known;
  }

  /** Others' blocks, of which addresses can be borrowed, are not remembered: they change without us. */
  #remember({ blocks }: Known, those: readonly (Stored<Block> | undefined)[]): void {
    for (const block of those) {
      if (block?.value.node === this.#member.node) {
        blocks.set(keyOf(block.value), block);
      }
    }
  }
}

function keyOf({ pool, cidr }: Block): string {
  return KEYS.block(pool, cidr);
}
