/** Rejections: every family has numbers of its own for them. */
import type { CompileContext } from './compile-context.ts';
import type { NftFamily } from './model.ts';
import { NftError } from './nft-error.ts';
import type { RejectWith } from './statements.ts';

/** Appends a rejection. */
export function compileReject(context: CompileContext, answer: RejectWith): void {
  if (answer === 'tcp-reset') {
    context.requireTransport(IPPROTO_TCP, 'reject with tcp-reset');
    context.emit({ expr: 'reject', type: 'tcp-reset', code: 0 });
  } else context.emit({ expr: 'reject', ...icmpAnswer(context.family, answer) });
}

function icmpAnswer(family: NftFamily, answer: IcmpAnswer) {
  switch (family) {
    case 'ip':
      return { type: 'icmp', code: ICMP[answer] } as const;
    case 'ip6':
      return { type: 'icmp', code: ICMPV6[answer] } as const;
    case 'inet':
    case 'bridge':
    case 'netdev':
      return { type: 'icmpx', code: ICMPX[answer] } as const;
    case 'arp':
      throw new NftError('reject in the family arp (there is nothing to answer with)');
  }
}

const IPPROTO_TCP = 6;

type IcmpAnswer = Exclude<RejectWith, 'tcp-reset'>;
/** ICMP_* of linux/icmp.h */
const ICMP: Readonly<Record<IcmpAnswer, number>> = {
  'no-route': 0,
  'host-unreachable': 1,
  'port-unreachable': 3,
  'admin-prohibited': 13,
};
/** ICMPV6_* of linux/icmpv6.h */
const ICMPV6: Readonly<Record<IcmpAnswer, number>> = {
  'no-route': 0,
  'admin-prohibited': 1,
  'host-unreachable': 3,
  'port-unreachable': 4,
};
/** NFT_REJECT_ICMPX_* */
const ICMPX: Readonly<Record<IcmpAnswer, number>> = {
  'no-route': 0,
  'port-unreachable': 1,
  'host-unreachable': 2,
  'admin-prohibited': 3,
};
