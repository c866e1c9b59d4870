/** struct tcmsg — linux/rtnetlink.h; TCA_*, TCA_STATS_* — linux/rtnetlink.h, linux/gen_stats.h */
import {
  attr,
  attrs,
  choice,
  cstring,
  headed,
  type Input,
  i32,
  pad,
  struct,
  u8,
  u32,
  u64,
  type Value,
} from '@heddle/wire';
import { htb, htbClass } from './kinds/htb.ts';
import { matchall } from './kinds/matchall.ts';
import { tbf } from './kinds/tbf.ts';
import { u32Filter } from './kinds/u32.ts';

/** struct tcmsg */
export const tcmsg = struct('tcmsg', {
  family: u8,
  pad: pad(3),
  index: i32,
  handle: u32,
  parent: u32,
  info: u32,
});

const basic = struct('gnet_stats_basic', { bytes: u64, packets: u32, pad: pad(4) });
const queue = struct('gnet_stats_queue', {
  length: u32,
  backlog: u32,
  drops: u32,
  requeues: u32,
  overlimits: u32,
});
const stats = attrs('TCA_STATS', { basic: attr(1, basic), queue: attr(3, queue) });

const common = { kind: attr(1, cstring), stats: attr(7, stats), chain: attr(11, u32) } as const;

/** A message about a queueing discipline. */
export const qdiscMessage = headed(
  tcmsg,
  attrs('TCA', { ...common, options: choice(2, 'kind', { tbf, htb }) }),
);
/** A message about a class. */
export const classMessage = headed(
  tcmsg,
  attrs('TCA', { ...common, options: choice(2, 'kind', { htb: htbClass }) }),
);
/** A message about a filter. */
export const filterMessage = headed(
  tcmsg,
  attrs('TCA', { ...common, options: choice(2, 'kind', { u32: u32Filter, matchall }) }),
);

/** A discipline as the kernel describes it. */
export type QdiscMessage = Value<typeof qdiscMessage>;
/** A class as the kernel describes it. */
export type ClassMessage = Value<typeof classMessage>;
/** A filter as the kernel describes it. */
export type FilterMessage = Value<typeof filterMessage>;
/** What a request about a discipline is written from. */
export type QdiscRequest = Input<typeof qdiscMessage>;

/** What went through, and what did not. */
export interface TcStats {
  readonly bytes: bigint;
  readonly packets: number;
  readonly drops: number;
  readonly overlimits: number;
  /** Bytes that wait. */
  readonly backlog: number;
}

/** Statistics from their attributes. */
export function statsOf(raw: Value<typeof stats> | undefined): TcStats {
  return {
    bytes: raw?.basic?.bytes ?? 0n,
    packets: raw?.basic?.packets ?? 0,
    drops: raw?.queue?.drops ?? 0,
    overlimits: raw?.queue?.overlimits ?? 0,
    backlog: raw?.queue?.backlog ?? 0,
  };
}
