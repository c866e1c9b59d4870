/** The token bucket that a limit comes to, in the units of the kernel. The figures are the reference's. Pure. */
import { ConfigError } from '@heddle/cni';
import type { Tbf } from '@heddle/netlink';
import type { Limit } from './config.ts';

/**
 * Rate and burst in bytes, both rounded down; so much may wait as goes in 25 milliseconds, and a burst more. What
 * does not fit 32 bits is the largest number that does.
 *
 * @throws {ConfigError} for a burst that is gone in less than a microsecond: the kernel refuses it
 * @example tokenBucket({ rate: 8000n, burst: 80n }) // { rate: 1000, limit: 35, buffer: 156250 }
 */
export function tokenBucket({ rate, burst }: Limit): Tbf {
  const bytesPerSecond = rate / 8n;
  const burstBytes = burst / 8n;
  const microseconds = (burstBytes * 1_000_000n) / bytesPerSecond;
  if (microseconds === 0n) {
    throw new ConfigError(
      `a burst of ${burst} bits is too small for ${rate} bits per second: it must last a microsecond`,
    );
  }
  return {
    rate: Number(bytesPerSecond),
    limit: within32(bytesPerSecond / 40n + burstBytes),
    // 15.625 of the kernel's ticks, of 64 ns each, are a microsecond.
    buffer: within32((microseconds * 125n) / 8n),
  };
}

/** Whether two buckets are the same. */
export function sameBucket(one: Tbf, other: Tbf): boolean {
  return one.rate === other.rate && one.limit === other.limit && one.buffer === other.buffer;
}

function within32(value: bigint): number {
  return value > UINT32_MAX ? Number(UINT32_MAX) : Number(value);
}

const UINT32_MAX = 0xffff_ffffn;
