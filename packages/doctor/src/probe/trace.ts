/**
 * Following one kind of packet through nftables. A table of the doctor's own marks the packets as traced, for as long as
 * the probe lives; it belongs to the session's socket, so the kernel takes it away even if this process is killed.
 * Rules and counters of others are not touched, and no other packet is held up by more than a comparison.
 */
import { BASE_CHAINS, TABLES } from '@heddle/dataplane';
import type { Addr } from '@heddle/netaddr';
import {
  add,
  chain,
  delete_,
  icmp,
  icmpv6,
  ip,
  ip6,
  type KernelSession,
  match,
  type NftTrace,
  nftTraceOf,
  rule,
  type Statement,
  setTrace,
  table,
} from '@heddle/netlink';

/** Which packets: echo requests from one address to another, and the replies of the other. */
export interface TracedFlow {
  readonly from: Addr;
  readonly to: Addr;
}

/** How far a packet came: into the node's IP, through `prerouting`, through `forward`, through `postrouting`. */
export type Milestone = 'mark' | 'arrived' | 'forwarded' | 'leaving';

/** What is seen, until it is disposed of. */
export interface Tracing extends AsyncDisposable {
  /** The steps until now, in order, our own milestones among them. */
  readonly steps: readonly NftTrace[];
}

/** The milestone that a step is; `undefined` for a step in somebody else's rules. */
export function milestoneOf(step: NftTrace): Milestone | undefined {
  return step.table === TABLES.doctor.table ? (step.chain as Milestone) : undefined;
}

/**
 * Begins.
 *
 * @throws {NetlinkError} when the kernel has no nf_tables, does not let us, or another doctor is at work
 */
export async function traceEchoes(host: KernelSession, { from, to }: TracedFlow): Promise<Tracing> {
  const steps: NftTrace[] = [];
  const watching = host.subscribe({
    groups: ['nftTrace'],
    onEvent(event) {
      const step = nftTraceOf(event);
      if (step !== undefined) steps.push(step);
    },
    onResync: () => undefined,
    unref: true,
  });
  const where = TABLES.doctor;
  const own = table({ family: where.family, name: where.table, flags: OWNED });
  const l3 = from.family === 4 ? ip : ip6;
  const echo = from.family === 4 ? icmp : icmpv6;
  const traced = (...expressions: readonly Statement[]) =>
    add(rule({ ...where, chain: 'mark', expressions: [...expressions, ...setTrace()] }));
  try {
    await host.nft.commit([
      add(own),
      ...Object.entries(MILESTONES).map(([name, base]) =>
        add(chain({ ...where, name, base: { ...base, policy: 'accept' } })),
      ),
      traced(match(l3.saddr, 'eq', from), match(l3.daddr, 'eq', to), match(echo.type, 'eq', 'echo-request')),
      // Where addresses are translated, the reply is not to the container yet.
      traced(match(l3.saddr, 'eq', to), match(echo.type, 'eq', 'echo-reply')),
    ]);
  } catch (error) {
    watching[Symbol.dispose]();
    throw error;
  }
  return {
    steps,
    async [Symbol.asyncDispose]() {
      watching[Symbol.dispose]();
      await host.nft.commit([delete_(own)]);
    },
  };
}

const MILESTONES: Readonly<Record<Milestone, (typeof BASE_CHAINS)[keyof typeof BASE_CHAINS]>> = {
  mark: BASE_CHAINS.doctorMark,
  arrived: BASE_CHAINS.doctorArrived,
  forwarded: BASE_CHAINS.doctorForwarded,
  leaving: BASE_CHAINS.doctorLeaving,
};

/** NFT_TABLE_F_OWNER */
const OWNED = 2;
