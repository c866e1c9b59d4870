/** Pools: the ranges that a cluster gives its pods addresses from. */
import { Addr, type AddrRange, type Prefix } from '@heddle/netaddr';
import { IpamError } from '../ipam-error.ts';
import { parseSelector } from './selector.ts';

/** When packets between nodes are wrapped: never, always, or only between nodes on different segments. */
export type Encapsulation = 'never' | 'always' | 'cross-subnet';

/** In what they are wrapped. */
export type Overlay = 'vxlan' | 'geneve' | 'ipip';

/** A pool as configured. */
export interface PoolConfig {
  /** A DNS label. */
  readonly name: string;
  /** Its addresses, all of which may be given: a pod's address stands alone, without a subnet around it. */
  readonly cidr: Prefix;
  /** The prefix length of blocks; 26 for IPv4 and 122 for IPv6 by default, which is 64 addresses. */
  readonly blockSize?: number;
  readonly encapsulation?: Encapsulation;
  readonly overlay?: Overlay;
  /** Whether what leaves the cluster takes the node's address. */
  readonly natOutgoing?: boolean;
  /** Which nodes use it, by their labels; all of them by default. */
  readonly nodeSelector?: string;
  /** A disabled pool gives no more addresses; those given stay. */
  readonly disabled?: boolean;
  /** Addresses that are never given. */
  readonly reserved?: readonly AddrRange[];
}

/** A pool with every default filled in. */
export type Pool = Required<PoolConfig>;

/** What lies around the pools, and must not lie within them. */
export interface Surroundings {
  /** The networks that the nodes' own addresses are from. */
  readonly nodes?: readonly Prefix[];
  /** The range of service addresses. */
  readonly services?: readonly Prefix[];
}

/** The prefix lengths that blocks of a family may have, and the one taken unless said otherwise. */
export const BLOCK_SIZES = {
  4: { least: 20, most: 32, usual: 26 },
  6: { least: 116, most: 128, usual: 122 },
} as const;

/**
 * Fills in the defaults of a pool and checks it.
 *
 * @throws {IpamError} IPAM_POOL_INVALID, with the pool's name
 * @example
 * const pool = resolvePool({ name: 'pods', cidr: Prefix.parse('10.244.0.0/16') });
 * pool.blockSize;    // 26
 * blocksOf(pool);    // 1024n
 */
export function resolvePool(config: PoolConfig): Pool {
  const { name, cidr } = config;
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    throw invalid(name, 'the name is not a DNS label', 'lower-case letters, digits and dashes, at most 63');
  }
  if (cidr.hasHostBits) throw invalid(name, `${cidr} has host bits set`, `the network is ${cidr.masked()}`);
  refuseUnfit(name, cidr);
  const { least, most, usual } = BLOCK_SIZES[cidr.family];
  const blockSize = config.blockSize ?? usual;
  if (!Number.isInteger(blockSize) || blockSize < least || blockSize > most) {
    throw invalid(name, `block size /${blockSize} is not from /${least} to /${most} for IPv${cidr.family}`);
  }
  if (cidr.bits > blockSize) {
    throw invalid(
      name,
      `${cidr} is smaller than one block of /${blockSize}`,
      'a pool has at least one block',
    );
  }
  const overlay = config.overlay ?? 'vxlan';
  const encapsulation = config.encapsulation ?? 'never';
  if (overlay === 'ipip' && cidr.family === 6 && encapsulation !== 'never') {
    throw invalid(name, `IP-in-IP does not carry IPv6 (${cidr})`, 'use vxlan or geneve');
  }
  const nodeSelector = config.nodeSelector ?? 'all()';
  parseSelector(nodeSelector, (why) =>
    invalid(name, `node selector ${JSON.stringify(nodeSelector)}: ${why}`),
  );
  const reserved = config.reserved ?? [];
  for (const range of reserved) {
    if (!cidr.contains(range.first) || !cidr.contains(range.last)) {
      throw invalid(name, `reserved range ${range} is not within ${cidr}`);
    }
  }
  const { natOutgoing = false, disabled = false } = config;
  return { name, cidr, blockSize, encapsulation, overlay, natOutgoing, nodeSelector, disabled, reserved };
}

/**
 * Checks pools against each other and what is around them.
 *
 * @throws {IpamError} IPAM_POOL_INVALID: two of one name, two with addresses in common, or one that shares addresses
 *   with nodes or services, which would be unreachable from pods
 */
export function checkPools(pools: readonly Pool[], { nodes = [], services = [] }: Surroundings = {}): void {
  for (const [index, pool] of pools.entries()) {
    const { name, cidr } = pool;
    for (const other of pools.slice(0, index)) {
      if (other.name === name) throw invalid(name, 'there are two pools of this name');
      if (other.cidr.overlaps(cidr))
        throw invalid(name, `${cidr} overlaps ${other.cidr} of pool ${other.name}`);
    }
    const clash = (range: Prefix) => range.overlaps(cidr);
    const node = nodes.find(clash);
    if (node !== undefined) {
      throw invalid(name, `${cidr} overlaps ${node}, which the nodes' own addresses are from`);
    }
    const service = services.find(clash);
    if (service !== undefined) throw invalid(name, `${cidr} overlaps ${service}, the range of services`);
  }
}

/**
 * Checks a pool that takes the place of another one of its name.
 *
 * @throws {IpamError} IPAM_POOL_INVALID when its addresses or blocks would not be the same any more
 */
export function checkChange(before: Pool, after: Pool): void {
  if (!before.cidr.equals(after.cidr)) {
    throw invalid(after.name, `its range cannot change from ${before.cidr} to ${after.cidr}`, ANOTHER_POOL);
  }
  if (before.blockSize !== after.blockSize) {
    throw invalid(
      after.name,
      `its block size cannot change from /${before.blockSize} to /${after.blockSize}`,
      ANOTHER_POOL,
    );
  }
}

/** How many blocks a pool has. */
export function blocksOf({ cidr, blockSize }: Pick<Pool, 'cidr' | 'blockSize'>): bigint {
  return 1n << BigInt(blockSize - cidr.bits);
}

/** How many addresses a block has. */
export function addressesPerBlock({ cidr, blockSize }: Pick<Pool, 'cidr' | 'blockSize'>): number {
  return 2 ** (cidr.addr.bits - blockSize);
}

/** Whether the address is one of those that the pool never gives. */
export function isReserved(pool: Pool, addr: Addr): boolean {
  return pool.reserved.some((range) => range.contains(addr));
}

const ANOTHER_POOL = 'make another pool, and disable this one';

function refuseUnfit(name: string, cidr: Prefix): void {
  const { network, last } = cidr;
  for (const addr of [network, last]) {
    if (addr.isLoopback || addr.isLinkLocal || addr.isMulticast || Addr.compare(addr, addr.unmap()) !== 0) {
      throw invalid(name, `${cidr} has addresses that no pod can have, such as ${addr}`);
    }
  }
  if (network.isUnspecified)
    throw invalid(name, `${cidr} has addresses that no pod can have, such as ${network}`);
}

function invalid(name: string, why: string, hint?: string): IpamError {
  const message = `pool ${name === '' ? '""' : name}: ${why}`;
  return new IpamError('IPAM_POOL_INVALID', message, hint === undefined ? {} : { hint });
}
