/** What a fake socket has to read: answers, acknowledgements, ends of dumps, as the kernel frames them. */
import { encode, i32 } from '@heddle/wire';
import { extendedAck, nlmsgerr } from '../../core/acknowledgement.ts';
import { NLM_F, NLMSG } from '../../core/header.ts';
import { encodeMessage, type Framed, type Reply } from '../../core/message.ts';
import type { Refusal } from './refusal.ts';

/** Collects the datagrams that answer one send. */
export class ReplyQueue {
  readonly datagrams: Uint8Array[] = [];

  /** One answer to a request. */
  answer({ header: { sequence } }: Framed, { type, flags, body }: Reply): void {
    this.datagrams.push(encodeMessage({ type, flags, sequence, body }));
  }

  /** The end of a dump. */
  done({ header: { sequence } }: Framed): void {
    const body = encode(i32, 0);
    this.datagrams.push(encodeMessage({ type: NLMSG.DONE, flags: NLM_F.MULTI, sequence, body }));
  }

  /** Success, or why there is none. The request is not repeated, as NETLINK_CAP_ACK has it. */
  acknowledge({ header }: Framed, refusal?: Refusal): void {
    const { text, offset } = refusal ?? {};
    const says = text !== undefined || offset !== undefined;
    const told = says ? encode(extendedAck, { message: text, offset }) : undefined;
    const head = encode(nlmsgerr, { error: refusal === undefined ? 0 : -refusal.errnum, request: header });
    const body = new Uint8Array(head.length + (told?.length ?? 0));
    body.set(head);
    if (told !== undefined) body.set(told, head.length);
    const flags = NLM_F.CAPPED | (told === undefined ? 0 : NLM_F.ACK_TLVS);
    this.datagrams.push(encodeMessage({ type: NLMSG.ERROR, flags, sequence: header.sequence, body }));
  }
}
