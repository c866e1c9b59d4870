/** TCA_HTB_*, struct tc_htb_opt, struct tc_htb_glob — linux/pkt_sched.h; discipline and class "htb" */
import { attr, attrs, type Input, struct, u32, u64, type Value } from '@heddle/wire';
import { rate64Of, rateOf, ratespec, ratespecOf } from './rate.ts';

const global = struct('tc_htb_glob', {
  version: u32,
  rateToQuantum: u32,
  defaultClass: u32,
  debug: u32,
  directPackets: u32,
});

/** Attributes of the discipline. */
export const htb = attrs('TCA_HTB', { global: attr(2, global), directQueueLength: attr(5, u32) });

const parameters = struct('tc_htb_opt', {
  rate: ratespec,
  ceil: ratespec,
  buffer: u32,
  ceilBuffer: u32,
  quantum: u32,
  level: u32,
  priority: u32,
});

/** Attributes of a class. */
export const htbClass = attrs('TCA_HTB', {
  parameters: attr(1, parameters),
  rate64: attr(6, u64),
  ceil64: attr(7, u64),
});

/** A hierarchy of token buckets. */
export interface Htb {
  /** Minor number of the class for what no filter matches; 0 sends it unshaped. */
  readonly defaultClass?: number | undefined;
  /** Divides a class's rate to find its quantum; 10 when left out. */
  readonly rateToQuantum?: number | undefined;
}

/** One class of it. Rates are in bytes per second, buffers in units of 64 ns; see `burstTicks`. */
export interface HtbClass {
  readonly rate: number;
  /** Up to which it borrows; as `rate` when left out. */
  readonly ceil?: number | undefined;
  readonly buffer: number;
  /** As `buffer` when left out. */
  readonly ceilBuffer?: number | undefined;
  /** Bytes that it sends before another class of its level has its turn; from `rate` when left out. */
  readonly quantum?: number | undefined;
  /** 0, the first to be served, to 7. */
  readonly priority?: number | undefined;
}

/** The discipline from its attributes. */
export function htbOf({ global }: Value<typeof htb>): Htb | undefined {
  return global && { defaultClass: global.defaultClass, rateToQuantum: global.rateToQuantum };
}

/** The attributes of the discipline. */
export function htbAttributes({ defaultClass, rateToQuantum = 10 }: Htb): Input<typeof htb> {
  return { global: { version: HTB_VERSION, defaultClass, rateToQuantum } };
}

/** A class from its attributes. */
export function htbClassOf(raw: Value<typeof htbClass>): HtbClass | undefined {
  const { parameters: p } = raw;
  return (
    p && {
      rate: rateOf(p.rate, raw.rate64),
      ceil: rateOf(p.ceil, raw.ceil64),
      buffer: p.buffer,
      ceilBuffer: p.ceilBuffer,
      quantum: p.quantum,
      priority: p.priority,
    }
  );
}

/** The attributes of a class. */
export function htbClassAttributes(spec: HtbClass): Input<typeof htbClass> {
  const { rate, ceil = rate, buffer, ceilBuffer = buffer, quantum, priority } = spec;
  return {
    parameters: { rate: ratespecOf(rate), ceil: ratespecOf(ceil), buffer, ceilBuffer, quantum, priority },
    rate64: rate64Of(rate),
    ceil64: rate64Of(ceil),
  };
}

/** The version of the interface that the kernel asks for. */
const HTB_VERSION = 3;
