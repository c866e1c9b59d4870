/** In what order a node looks for a block of its own: each node in another one, so that they seldom meet. */
import { type Addr, Prefix } from '@heddle/netaddr';
import { blocksOf, type Pool } from './pool.ts';

/**
 * All blocks of a pool, each once. The number of blocks is a power of two, so any odd step leads through all of them.
 *
 * @example for (const cidr of blockOrder(pool, 'node-1')) …
 */
export function* blockOrder(pool: Pool, node: string): Generator<Prefix, void> {
  const count = blocksOf(pool);
  const size = 1n << BigInt(pool.cidr.addr.bits - pool.blockSize);
  const start = hash(`${node}/start`);
  const step = hash(`${node}/step`) | 1n;
  for (let n = 0n; n < count; n++) {
    const index = (start + n * step) % count;
    const first = pool.cidr.network.add(index * size);
    if (first !== undefined) yield Prefix.of(first, pool.blockSize);
  }
}

/** The block of a pool that an address is in. */
export function blockAround(pool: Pool, addr: Addr): Prefix {
  return Prefix.of(addr.masked(pool.blockSize), pool.blockSize);
}

/** FNV-1a with 64 bits, and a last mixing: names of nodes differ in their ends only. */
function hash(text: string): bigint {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  }
  value = BigInt.asUintN(64, (value ^ (value >> 33n)) * 0xff51afd7ed558ccdn);
  return value ^ (value >> 33n);
}
