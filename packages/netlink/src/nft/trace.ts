/** Following packets through the ruleset: which rule or policy decided what — nft(8), "meta nftrace" */
import { decode } from '@heddle/wire';
import type { KernelEvent } from '../session/events.ts';
import type { Expression } from './codec/expressions.ts';
import { NFT_MSG, nftType } from './codec/nfgenmsg.ts';
import { traceMessage } from './codec/trace.ts';
import type { NftFamily } from './model.ts';

/** What one chain or rule did with a traced packet. */
export interface NftTrace {
  /** The packet: the same for all its steps until it leaves the machine, or is given to another namespace. */
  readonly id: number;
  readonly family: NftFamily;
  readonly table: string;
  readonly chain: string;
  /** What decided: a rule, the end of a chain (`return`), or a base chain's policy. */
  readonly by: 'rule' | 'return' | 'policy';
  /** The rule's handle. */
  readonly rule?: number;
  readonly verdict: 'accept' | 'drop' | 'queue' | 'continue' | 'break' | 'jump' | 'goto' | 'return' | number;
  /** The chain that is jumped or gone to. */
  readonly target?: string;
  /** Indexes of links. */
  readonly iif?: number;
  readonly oif?: number;
  /** The packet from its IP header on, as far as the kernel tells; only with a packet's first step in a chain. */
  readonly networkHeader?: Uint8Array;
}

/**
 * The step that an event of the group `nftTrace` tells of; `undefined` for other events.
 *
 * @example
 * using watching = session.subscribe({ groups: ['nftTrace'], onEvent: (event) => steps.push(nftTraceOf(event)), … });
 */
export function nftTraceOf(event: KernelEvent): NftTrace | undefined {
  if (event.kind !== 'netfilter' || event.type !== nftType(NFT_MSG.TRACE)) return undefined;
  const { family, attributes: a } = decode(traceMessage, event.body);
  const isPolicy = a.type === 'policy';
  return {
    id: a.id ?? 0,
    family: family as NftFamily,
    table: a.table ?? '',
    chain: a.chain ?? '',
    by: typeof a.type === 'string' ? a.type : 'rule',
    verdict: (isPolicy ? a.policy : a.verdict?.code) ?? 'continue',
    ...(a.rule !== undefined && { rule: a.rule }),
    ...(a.verdict?.chain !== undefined && { target: a.verdict.chain }),
    ...(a.iif !== undefined && { iif: a.iif }),
    ...(a.oif !== undefined && { oif: a.oif }),
    ...(a.networkHeader !== undefined && { networkHeader: a.networkHeader.slice() }),
  };
}

/** The expressions that have a packet traced from here on: `meta nftrace set 1`. */
export function setTrace(): readonly Expression[] {
  return [
    { expr: 'immediate', dreg: REGISTER, data: { value: Uint8Array.of(1) } },
    { expr: 'meta', key: 'nftrace', sreg: REGISTER },
  ];
}

/** NFT_REG_1 */
const REGISTER = 1;
