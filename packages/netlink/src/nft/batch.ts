/** A transaction of nfnetlink: its messages between BEGIN and END — linux/netfilter/nfnetlink.h */
import { encode } from '@heddle/wire';
import { HEADER_SIZE, NLM_F } from '../core/header.ts';
import type { Message } from '../core/message.ts';
import { NetlinkError } from '../core/netlink-error.ts';
import { batchBegin, NFNL_MSG_BATCH, NFNL_SUBSYS } from './codec/nfgenmsg.ts';
import { describeChange } from './describe.ts';
import type { PlannedMessage } from './plan.ts';

/**
 * The messages as a batch; with `generation`, for no other generation of the ruleset than that one. The last
 * change is acknowledged, so that a kernel that took no notice of the batch is found out.
 */
export function enclosed(
  messages: readonly PlannedMessage[],
  generation: number | undefined,
): readonly Message[] {
  const frame = { family: 'unspec', resource: NFNL_SUBSYS.NFTABLES } as const;
  const operation = `commit ${messages.length} nftables changes`;
  return [
    {
      type: NFNL_MSG_BATCH.BEGIN,
      body: encode(batchBegin, { ...frame, attributes: { generation } }),
      operation,
    },
    ...messages.map((message, index) =>
      index === messages.length - 1 ? { ...message, flags: (message.flags ?? 0) | NLM_F.ACK } : message,
    ),
    { type: NFNL_MSG_BATCH.END, body: encode(batchBegin, frame), operation },
  ];
}

/** The error of a message that carries several changes, with the name of the one that the kernel points at. */
export function blamed(error: NetlinkError, refused: PlannedMessage | undefined): NetlinkError {
  const offset = error.extAck?.offset;
  const change = offset === undefined ? undefined : refused?.changeAt?.(offset - HEADER_SIZE);
  return change === undefined ? error : new NetlinkError(describeChange(change), error.errnum, error.extAck);
}
