/** Echo requests — RFC 792, RFC 4443. */
import type { Addr } from '@heddle/netaddr';
import { type NetnsHandle, recv, SOCK, SOL, SysError, send, setsockopt, socket } from '@heddle/sys';
import { bytes, decode, encode, struct, u8, u16be } from '@heddle/wire';
import { awaitReadable } from './await-readable.ts';
import { familyNumber, socketAddress } from './socket-address.ts';

/** What a ping is like. */
export interface PingOptions {
  /** Bytes of the whole packet, IP header included; 84 by default, for IPv6 104. */
  readonly size?: number | undefined;
  /** Whether it may be cut into fragments on its way; by default it may. */
  readonly fragments?: boolean | undefined;
  /** Milliseconds until it counts as unanswered. */
  readonly timeout?: number | undefined;
}

/** What came of a ping. */
export type PingOutcome =
  | { readonly answered: true; readonly milliseconds: number }
  /** `error` is the kernel's, such as EMSGSIZE for a packet that is larger than the path; absent when nothing came. */
  | { readonly answered: false; readonly error?: string };

/**
 * Sends an echo request and waits for the answer to it. One that stays without is sent again.
 *
 * @example await ping(pod.netns, Addr.parse('10.244.1.2'), { size: 1450, fragments: false })
 */
export async function ping(
  netns: NetnsHandle,
  to: Addr,
  { size, fragments = true, timeout = 2000 }: PingOptions = {},
): Promise<PingOutcome> {
  const kind = ECHO[to.family];
  using fd = socket({
    ...{ family: familyNumber(to.family), type: SOCK.RAW, protocol: kind.protocol, netns, nonblocking: true },
  });
  const id = (Math.random() * 0xffff) | 0;
  const length = Math.max(HEADER, (size ?? kind.usual) - kind.ipHeader);
  const request = echoRequest(to.family, { id, sequence: 1, length });
  const started = performance.now();
  const ask = () => void send(fd, request, { to: socketAddress(to) });
  try {
    setsockopt(fd, kind.level, kind.mtuDiscover, fragments ? PMTUDISC.DONT : PMTUDISC.DO);
    ask();
    const answered = await awaitReadable(
      fd,
      () => {
        const packet = recv(fd);
        const reply = packet && readEcho(packet, to.family);
        return reply?.id === id && reply.length === length ? true : undefined;
      },
      { timeout, again: ask },
    );
    return answered ? { answered, milliseconds: performance.now() - started } : { answered: false };
  } catch (error) {
    if (error instanceof SysError) return { answered: false, error: error.errno };
    throw error;
  }
}

/** What differs between the families. */
export const ECHO = {
  4: {
    ...{ protocol: 1, request: 8, reply: 0, ipHeader: 20, usual: 84 },
    ...{ level: SOL.IP, mtuDiscover: 10 },
  },
  6: {
    ...{ protocol: 58, request: 128, reply: 129, ipHeader: 40, usual: 104 },
    ...{ level: SOL.IPV6, mtuDiscover: 23 },
  },
} as const;

/** IP_PMTUDISC_… — linux/in.h; for IPv6 the same. */
const PMTUDISC = { DONT: 0, DO: 2 } as const;

/** struct icmphdr of an echo */
const icmp = struct('icmphdr', { type: u8, code: u8, checksum: bytes(2), id: u16be, sequence: u16be });
const HEADER = 8;

/** A request, of so many bytes without the IP header. */
export function echoRequest(
  family: 4 | 6,
  { id, sequence, length = 64 }: { readonly id: number; readonly sequence: number; readonly length?: number },
): Uint8Array {
  const packet = new Uint8Array(length);
  for (let at = HEADER; at < length; at++) packet[at] = at & 0xff;
  packet.set(encode(icmp, { type: ECHO[family].request, id, sequence }));
  // The kernel fills in that of ICMPv6, which covers the addresses too.
  if (family === 4) new DataView(packet.buffer).setUint16(2, checksum(packet));
  return packet;
}

/** What a raw socket has received, when it is an answer. */
export function readEcho(
  packet: Uint8Array,
  family: 4 | 6,
): { readonly id: number; readonly sequence: number; readonly length: number } | undefined {
  const body = family === 4 ? packet.subarray(((packet[0] ?? 0) & 15) * 4) : packet;
  if (body.length < HEADER) return undefined;
  const { type, id, sequence } = decode(icmp, body.subarray(0, HEADER));
  return type === ECHO[family].reply ? { id, sequence, length: body.length } : undefined;
}

/** RFC 1071 */
function checksum(packet: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < packet.length; at += 2) sum += ((packet[at] ?? 0) << 8) | (packet[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
