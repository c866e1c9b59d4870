/** TCA_TBF_*, struct tc_tbf_qopt — linux/pkt_sched.h; queueing discipline "tbf" */
import { attr, attrs, type Input, struct, u32, u64, type Value } from '@heddle/wire';
import { rate64Of, rateOf, ratespec, ratespecOf } from './rate.ts';

const parameters = struct('tc_tbf_qopt', {
  rate: ratespec,
  peakRate: ratespec,
  limit: u32,
  buffer: u32,
  mtu: u32,
});

/** Attributes of a token bucket. */
export const tbf = attrs('TCA_TBF', {
  parameters: attr(1, parameters),
  rate64: attr(4, u64),
  peakRate64: attr(5, u64),
});

/** A token bucket: traffic above `rate` waits, what does not fit in `limit` is dropped. */
export interface Tbf {
  /** Bytes per second. */
  readonly rate: number;
  /** How much may go at once, as the time that it takes at `rate`, in units of 64 ns; see `burstTicks`. */
  readonly buffer: number;
  /** Bytes that may wait. */
  readonly limit: number;
  /** Bytes per second of a burst; 0 for no bound. */
  readonly peakRate?: number | undefined;
  /** Size of the peak bucket, in units of 64 ns at `peakRate`. */
  readonly mtu?: number | undefined;
}

/** A token bucket from its attributes. */
export function tbfOf(raw: Value<typeof tbf>): Tbf | undefined {
  const { parameters: p } = raw;
  if (p === undefined) return undefined;
  const peakRate = rateOf(p.peakRate, raw.peakRate64);
  return {
    rate: rateOf(p.rate, raw.rate64),
    buffer: p.buffer,
    limit: p.limit,
    ...(peakRate > 0 && { peakRate, mtu: p.mtu }),
  };
}

/** The attributes of a token bucket. */
export function tbfAttributes({ rate, buffer, limit, peakRate, mtu }: Tbf): Input<typeof tbf> {
  return {
    parameters: {
      rate: ratespecOf(rate),
      peakRate: peakRate === undefined ? undefined : ratespecOf(peakRate),
      limit,
      buffer,
      mtu,
    },
    rate64: rate64Of(rate),
    peakRate64: peakRate === undefined ? undefined : rate64Of(peakRate),
  };
}
