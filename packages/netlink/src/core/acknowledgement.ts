/** The kernel's verdict on a message: NLMSG_ERROR and NLMSG_DONE — linux/netlink.h */
import { attr, attrs, cstring, decode, decodeDeclared, i32, struct, u32 } from '@heddle/wire';
import { HEADER_SIZE, NLM_F, NLMSG, nlmsghdr } from './header.ts';
import type { Framed } from './message.ts';
import type { ExtendedAck } from './netlink-error.ts';

/** struct nlmsgerr: the errno, negative, 0 for success, and the header of the request. */
export const nlmsgerr = struct('nlmsgerr', { error: i32, request: nlmsghdr });

/** NLMSGERR_ATTR_*: what the kernel adds when NETLINK_EXT_ACK is set. */
export const extendedAck = attrs('NLMSGERR_ATTR', {
  message: attr(1, cstring),
  offset: attr(2, u32),
  missing: attr(5, u32),
});

/** Success is errno 0. */
export interface Verdict {
  /** Positive. */
  readonly errnum: number;
  readonly extAck: ExtendedAck | undefined;
}

/** What an NLMSG_ERROR or NLMSG_DONE message says; `undefined` for any other. */
export function verdictOf(frame: Framed): Verdict | undefined {
  const { type, flags } = frame;
  if (type === NLMSG.ERROR) {
    const error = frame.read(ERROR);
    if (error === 0 && (flags & NLM_F.ACK_TLVS) === 0) return ACCEPTED;
    const { body } = frame;
    const { request } = decode(nlmsgerr, body);
    const capped = (flags & NLM_F.CAPPED) !== 0;
    const payload = capped ? 0 : request.length - HEADER_SIZE;
    return verdict(error, flags, body.subarray(ERROR_SIZE + ((payload + 3) & ~3)));
  }
  // Older kernels end a dump without saying how it went.
  if (type === NLMSG.DONE) {
    const { body } = frame;
    const error = body.length >= 4 ? decode(i32, body) : 0;
    return verdict(error, flags, body.subarray(4));
  }
  return undefined;
}

const ERROR = nlmsgerr.field('error');
const ACCEPTED: Verdict = { errnum: 0, extAck: undefined };

const ERROR_SIZE = 4 + HEADER_SIZE;

function verdict(error: number, flags: number, rest: Uint8Array): Verdict {
  if ((flags & NLM_F.ACK_TLVS) === 0) return { errnum: error < 0 ? -error : 0, extAck: undefined };
  return { errnum: error < 0 ? -error : 0, extAck: decodeDeclared(extendedAck, rest) };
}
