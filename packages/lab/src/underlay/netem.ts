/** struct tc_netem_qopt — linux/pkt_sched.h; the queueing discipline that delays and loses packets, tc-netem(8) */
import { encode, struct, u32 } from '@heddle/wire';

const netem = struct('tc_netem_qopt', {
  latency: u32,
  limit: u32,
  loss: u32,
  gap: u32,
  duplicate: u32,
  jitter: u32,
});

/** How a way treats packets. */
export interface Weather {
  /** Milliseconds. */
  readonly delay: number;
  /** The share that gets lost, from 0 to 1. */
  readonly loss: number;
}

/** The options of a discipline `netem`. */
export function netemOptions({ delay, loss }: Weather): Uint8Array {
  return encode(netem, {
    latency: Math.round((delay * 1e6) / TICK),
    limit: LIMIT,
    loss: Math.round(loss * 0xffffffff),
    gap: 0,
    duplicate: 0,
    jitter: 0,
  });
}

/** Nanoseconds of the kernel's clock of packet schedulers, PSCHED_TICKS2NS. */
const TICK = 64;
/** Packets that may be under way. */
const LIMIT = 100_000;
