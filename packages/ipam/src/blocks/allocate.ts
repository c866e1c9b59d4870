/** Taking addresses for an attachment: one of each family that is asked for, all in one commit, or none. */
import { type Addr, Prefix } from '@heddle/netaddr';
import type { Condition } from '@heddle/store';
import { IpamError } from '../ipam-error.ts';
import { addressAt, type Block, take } from './block.ts';
import { type Choice, chooseAny, chooseExactly, namesOf } from './choose.ts';
import {
  attempts,
  type Cluster,
  commitAs,
  type Member,
  poolsFor,
  presenceGuard,
  putBlock,
  read,
  readCluster,
  type Stored,
} from './member.ts';
import type { Pool } from './pool.ts';
import { type HandleRecord, handleCodec, KEYS, type SandboxRecord } from './records.ts';

/** What to take. */
export interface BlockRequest {
  /** Names the attachment; it is what the addresses are given back by. No other attachment has it, ever. */
  readonly handle: string;
  /** One address is taken of each; by default of each family that the pools for the node have. */
  readonly families?: readonly (4 | 6)[];
  /** Addresses that are wanted, at most one of a family. */
  readonly addresses?: readonly Addr[];
  /** The names of the pools to take from; all that are for the node by default. */
  readonly pools?: readonly string[];
  /** Whom they are for, in words for people: `namespace/name` of a pod. */
  readonly pod?: string;
  /** The network namespace that they are used in, as evidence that they are. */
  readonly sandbox?: SandboxRecord;
  readonly signal?: AbortSignal;
}

/** What a commit took. */
export interface Taken {
  readonly record: Stored<HandleRecord>;
  readonly blocks: readonly Stored<Block>[];
}

/** One address that was taken. */
export interface BlockAllocation {
  /** The address by itself, `10.244.3.7/32`: what is around it is reached through the node. */
  readonly address: Prefix;
  readonly pool: string;
  readonly block: Prefix;
  /** Tells this holder of the address from all others. */
  readonly sequence: number;
}

/**
 * Takes addresses for an attachment of the member's node. Asking again for a handle that has addresses gives the same
 * ones, so whoever did not get the answer may ask again.
 *
 * @throws {IpamError} IPAM_NO_POOL, IPAM_ADDRESS_UNAVAILABLE, IPAM_REQUEST_UNMET, IPAM_DUPLICATE, IPAM_NODE_LOST,
 *   IPAM_BUSY
 * @throws {PoolsExhaustedError} when no pool has a free address
 * @throws {StoreError} as the store does
 * @example
 * const [v4, v6] = await allocateAddresses(member, { handle: 'pods.c1.eth0', families: [4, 6] });
 */
export async function allocateAddresses(
  member: Member,
  request: BlockRequest,
): Promise<readonly BlockAllocation[]> {
  const { handle, addresses = [], signal } = request;
  const what = `take addresses for ${handle}`;
  return attempts(
    what,
    presenceGuard(member, what),
    async () => {
      const key = KEYS.handle(member.node, handle);
      const known = await read<HandleRecord>(member.store, handleCodec, key);
      if (known !== undefined) return same(known.value, request);
      const cluster = await readCluster(member);
      const choices: Choice[] = [];
      for (const family of familiesOf(member, cluster, request)) {
        const wanted = addresses.find((addr) => addr.family === family);
        const pools = poolsAsked(member, cluster, family, request);
        choices.push(
          wanted === undefined
            ? await chooseAny(member, cluster, pools)
            : await chooseExactly(member, cluster, pools, wanted),
        );
      }
      return toAllocations((await commitChoices(member, request, choices)).record.value);
    },
    signal,
  );
}

/**
 * Takes what was chosen, in one commit.
 *
 * @param also what must hold besides: that what the choice was made from is still so
 */
export async function commitChoices(
  member: Member,
  { handle, pod, sandbox }: BlockRequest,
  choices: readonly Choice[],
  also: readonly Condition[] = [],
): Promise<Taken> {
  const { node } = member;
  const key = KEYS.handle(node, handle);
  const taken = choices.map(({ block: { value, revision }, ordinal }) => ({
    block: take(value, ordinal, handle, node),
    revision,
    addr: addressAt(value, ordinal),
  }));
  const record: HandleRecord = {
    handle,
    node,
    addresses: taken.map(({ block: { pool, cidr, sequence }, addr }) => ({
      addr,
      pool,
      block: cidr,
      sequence,
    })),
    ...(pod !== undefined && { pod }),
    ...(sandbox !== undefined && { sandbox }),
  };
  const revision = await commitAs(
    member,
    [
      { key, revision: 0 },
      ...taken.map(({ block: { pool, cidr }, revision }) => ({ key: KEYS.block(pool, cidr), revision })),
      ...also,
    ],
    [{ put: key, value: handleCodec.encode(record) }, ...taken.map(({ block }) => putBlock(block))],
  );
  return {
    record: { value: record, revision },
    blocks: taken.map(({ block }) => ({ value: block, revision })),
  };
}

/** Of which families an address is taken. @throws {IpamError} IPAM_REQUEST_UNMET, IPAM_NO_POOL */
export function familiesOf(member: Member, cluster: Cluster, request: BlockRequest): readonly (4 | 6)[] {
  const has = (family: 4 | 6) => usablePools(member, cluster, family, request).length > 0;
  const families = request.families ?? ([4, 6] as const).filter(has);
  for (const addr of request.addresses ?? []) refuseUnasked(addr, families, request);
  if (families.length > 0) return families;
  throw noPool(member, cluster, 'pool', request);
}

/** The pools that an address of a family may come from. @throws {IpamError} IPAM_NO_POOL */
export function poolsAsked(
  member: Member,
  cluster: Cluster,
  family: 4 | 6,
  request: BlockRequest,
): readonly Pool[] {
  const pools = usablePools(member, cluster, family, request);
  if (pools.length > 0) return pools;
  throw noPool(member, cluster, `pool of IPv${family}`, request);
}

function usablePools(member: Member, cluster: Cluster, family: 4 | 6, { pools: asked }: BlockRequest) {
  const usable = poolsFor(member, cluster, family);
  return asked === undefined ? usable : usable.filter(({ name }) => asked.includes(name));
}

function noPool(
  { node }: Member,
  { pools }: Cluster,
  what: string,
  { pools: asked }: BlockRequest,
): IpamError {
  const which = asked === undefined ? '' : ` among ${asked.join(', ')}`;
  return new IpamError('IPAM_NO_POOL', `no ${what} is enabled for node ${node}${which}`, {
    hint: `all pools: ${namesOf(pools)}`,
  });
}

function refuseUnasked(addr: Addr, families: readonly (4 | 6)[], { addresses = [] }: BlockRequest): void {
  if (!families.includes(addr.family)) {
    throw new IpamError(
      'IPAM_REQUEST_UNMET',
      `requested address ${addr}: no address of IPv${addr.family} is taken`,
    );
  }
  if (addresses.filter(({ family }) => family === addr.family).length > 1) {
    throw new IpamError(
      'IPAM_REQUEST_UNMET',
      `requested address ${addr}: one address is taken of each family`,
    );
  }
}

/** What the handle has, if that is what is asked for. */
function same(record: HandleRecord, { families, addresses = [] }: BlockRequest): readonly BlockAllocation[] {
  const has = (addr: Addr) => record.addresses.some((each) => each.addr.equals(addr));
  const familiesHeld = record.addresses.map(({ addr }) => addr.family).toSorted();
  const isAsked = families === undefined || String(familiesHeld) === String(families.toSorted());
  if (isAsked && addresses.every(has)) return toAllocations(record);
  const held = record.addresses.map(({ addr }) => addr).join(', ');
  throw new IpamError(
    'IPAM_DUPLICATE',
    `${record.handle} holds ${held} already, which is not what is asked for; duplicate allocation is not allowed`,
  );
}

/** What the answer says of a handle. */
export function toAllocations({ addresses }: HandleRecord): readonly BlockAllocation[] {
  return addresses.map(({ addr, pool, block, sequence }) => ({
    address: Prefix.host(addr),
    pool,
    block,
    sequence,
  }));
}
