/** struct tc_ratespec — linux/pkt_sched.h */
import { struct, u8, u16, u32, type Value } from '@heddle/wire';

/** struct tc_ratespec: bytes per second, up to 32 bits; faster rates have an attribute of their own. */
export const ratespec = struct('tc_ratespec', {
  cellLog: u8,
  linkLayer: u8,
  overhead: u16,
  cellAlign: u16,
  minimumPacketUnit: u16,
  rate: u32,
});

/** The part of a rate that fits the struct. */
export function ratespecOf(rate: number): { readonly rate: number } {
  return { rate: Math.min(rate, UINT32_MAX) };
}

/** The attribute for a rate that does not fit the struct. */
export function rate64Of(rate: number): bigint | undefined {
  return rate > UINT32_MAX ? BigInt(rate) : undefined;
}

/** A rate from the struct and the attribute that it may have. */
export function rateOf(spec: Value<typeof ratespec>, rate64: bigint | undefined): number {
  return rate64 === undefined ? spec.rate : Number(rate64);
}

/**
 * How long a burst takes at a rate, in the kernel's unit of 64 nanoseconds, in which buffers are given.
 *
 * @param bytes the burst
 * @param rate bytes per second
 * @example burstTicks(32 * 1024, 125_000) // 4096000
 */
export function burstTicks(bytes: number, rate: number): number {
  return Math.floor((bytes * NANOSECONDS) / rate / TICK);
}

const UINT32_MAX = 0xffff_ffff;
const NANOSECONDS = 1e9;
const TICK = 64;
