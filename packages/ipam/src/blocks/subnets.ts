/** The mode `node-subnets`: each node has the blocks of subnets that were made its own, and claims no others. */
import { Prefix } from '@heddle/netaddr';
import { IpamError } from '../ipam-error.ts';
import type { Block } from './block.ts';
import { adopt, claimExactly, resume } from './claim.ts';
import { attempts, type Member, presenceGuard, read, readBlock, readCluster, type Stored } from './member.ts';
import type { Pool } from './pool.ts';
import { type Affinity, affinityCodec, KEYS } from './records.ts';

/** Of a subnet with more blocks than that, only the first ones are claimed: nobody has so many pods on a node. */
const MOST_BLOCKS = 64;
/** How many those are. */
const FIRST_BLOCKS = 16;

/**
 * The blocks of a pool that make up a node's subnet; the first sixteen where it has more than 64, as those of IPv6 have.
 *
 * @throws {IpamError} IPAM_POOL_INVALID when the subnet is no whole number of the pool's blocks, or not within the pool
 * @example blocksWithin(pool, Prefix.parse('10.244.1.0/24')) // four, of /26
 */
export function blocksWithin(
  { name, cidr, blockSize }: Pick<Pool, 'name' | 'cidr' | 'blockSize'>,
  subnet: Prefix,
): readonly Prefix[] {
  const refuse = (why: string) => new IpamError('IPAM_POOL_INVALID', `subnet ${subnet}: ${why}`);
  if (!cidr.containsPrefix(subnet)) {
    throw refuse(`it is not within ${cidr} of pool ${name}`);
  }
  if (subnet.bits > blockSize) {
    throw refuse(`it is smaller than a block of pool ${name}, which is a /${blockSize}`);
  }
  const count = 2 ** Math.min(blockSize - subnet.bits, 32);
  const size = 1n << BigInt(cidr.addr.bits - blockSize);
  return Array.from({ length: count > MOST_BLOCKS ? FIRST_BLOCKS : count }, (_, index) => {
    const first = subnet.network.add(BigInt(index) * size);
    if (first === undefined) throw refuse('it ends beyond all addresses');
    return Prefix.of(first, blockSize);
  });
}

/**
 * Makes the blocks of subnets the member's own; those that it has already stay.
 *
 * @returns the member's blocks in these subnets
 * @throws {IpamError} IPAM_POOL_INVALID when no pool has a subnet as whole blocks; IPAM_ADDRESS_UNAVAILABLE when a block
 *   belongs to another node; IPAM_NODE_LOST, IPAM_BUSY
 * @throws {StoreError} as the store does; what was claimed by then stays claimed
 * @example await claimSubnets(member, [Prefix.parse('10.244.1.0/24')]);
 */
export async function claimSubnets(member: Member, subnets: readonly Prefix[]): Promise<readonly Block[]> {
  const what = `claim the subnets of node ${member.node}`;
  const { pools } = await readCluster(member);
  const blocks: Block[] = [];
  for (const subnet of subnets) {
    const pool = pools.find(({ cidr }) => cidr.containsPrefix(subnet));
    if (pool === undefined) throw new IpamError('IPAM_POOL_INVALID', `subnet ${subnet} is in no pool`);
    for (const cidr of blocksWithin(pool, subnet)) {
      const claim = () => claimOne(member, pool, cidr, subnet);
      blocks.push((await attempts(what, presenceGuard(member, what), claim)).value);
    }
  }
  return blocks;
}

async function claimOne(member: Member, pool: Pool, cidr: Prefix, subnet: Prefix): Promise<Stored<Block>> {
  const block = await readBlock(member, { pool: pool.name, cidr });
  if (block === undefined) return claimExactly(member, pool, cidr);
  const { node } = block.value;
  if (node === undefined) return adopt(member, block);
  if (node !== member.node) {
    throw new IpamError(
      'IPAM_ADDRESS_UNAVAILABLE',
      `subnet ${subnet}: its block ${cidr} belongs to ${node}`,
      {
        hint: 'two nodes cannot have one subnet; `heddle ipam show -o wide` lists all blocks',
      },
    );
  }
  const affinity = await read<Affinity>(member.store, affinityCodec, KEYS.affinity(node, cidr));
  if (affinity === undefined || affinity.value.state === 'confirmed') return block;
  return (await resume(member, pool, affinity)) ?? claimExactly(member, pool, cidr);
}
