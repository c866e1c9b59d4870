/** ICMP and ICMPv6 as far as probes need them — RFC 792, RFC 4443. */
import type { Addr } from '@heddle/netaddr';
import { addr4, decode, encode, struct, u8, u16be, u32be, WireError } from '@heddle/wire';

/** The head of an echo request or reply. */
const echoHead = struct('ICMP echo', { type: u8, code: u8, checksum: u16be, id: u16be, sequence: u16be });

/** The head of an error; `rest` holds the MTU of "fragmentation needed" (its low half) and of "packet too big". */
const errorHead = struct('ICMP error', { type: u8, code: u8, checksum: u16be, rest: u32be });

/** How many bytes IP's and ICMP's headers take. */
export const HEADERS: Readonly<Record<4 | 6, number>> = { 4: 28, 6: 48 };

/** An echo request of a family, without IP's header. The kernel fills in ICMPv6's checksum itself. */
export function echoRequest(
  family: 4 | 6,
  { id, sequence, payload }: { readonly id: number; readonly sequence: number; readonly payload: number },
): Uint8Array {
  const message = new Uint8Array(8 + payload);
  const head = { type: family === 4 ? 8 : 128, code: 0, id, sequence };
  message.set(encode(echoHead, head));
  if (family === 4) message.set(encode(echoHead, { ...head, checksum: internetChecksum(message) }));
  return message;
}

/** What came back. */
export type IcmpAnswer =
  | { readonly kind: 'reply'; readonly id: number; readonly sequence: number }
  | {
      /** Somebody on the way says that the packet went no further. */
      readonly kind: 'error';
      readonly id: number;
      readonly sequence: number;
      readonly from?: Addr;
      /** In words. */
      readonly reason: string;
      /** The largest packet that would fit, where that is the reason. */
      readonly mtu?: number;
    };

/** The answer in what a raw socket received; `undefined` for everything else. */
export function readAnswer(family: 4 | 6, packet: Uint8Array): IcmpAnswer | undefined {
  try {
    return family === 4 ? readIcmp4(packet) : readIcmp6(packet);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** IPv4's raw sockets give the IP header too. */
function readIcmp4(packet: Uint8Array): IcmpAnswer | undefined {
  const message = packet.subarray(headerSize(packet));
  const { type, code, id, sequence } = decode(echoHead, message.subarray(0, 8));
  if (type === 0) return { kind: 'reply', id, sequence };
  if (type !== 3 && type !== 11) return undefined;
  const from = decode(addr4, packet.subarray(12, 16));
  const cause = message.subarray(8);
  const original = decode(echoHead, cause.subarray(headerSize(cause)).subarray(0, 8));
  const { rest } = decode(errorHead, message.subarray(0, 8));
  const reason = type === 11 ? 'the time to live ended' : (UNREACHABLE4[code] ?? `unreachable, code ${code}`);
  const mtu = type === 3 && code === 4 ? { mtu: rest & 0xffff } : {};
  return { kind: 'error', id: original.id, sequence: original.sequence, from, reason, ...mtu };
}

function readIcmp6(message: Uint8Array): IcmpAnswer | undefined {
  const { type, code, id, sequence } = decode(echoHead, message.subarray(0, 8));
  if (type === 129) return { kind: 'reply', id, sequence };
  if (type < 1 || type > 3) return undefined;
  const original = decode(echoHead, message.subarray(48, 56));
  const { rest } = decode(errorHead, message.subarray(0, 8));
  const reason =
    type === 1
      ? (UNREACHABLE6[code] ?? `unreachable, code ${code}`)
      : type === 2
        ? TOO_BIG
        : 'the hop limit ended';
  return {
    ...{ kind: 'error', id: original.id, sequence: original.sequence, reason },
    ...(type === 2 && { mtu: rest }),
  };
}

/** RFC 1071 */
function internetChecksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function headerSize(packet: Uint8Array): number {
  return ((packet[0] ?? 0) & 0x0f) * 4;
}

const TOO_BIG = 'the packet is too big';

const UNREACHABLE4: Readonly<Record<number, string>> = {
  0: 'the network is unreachable',
  1: 'the host is unreachable',
  2: 'the protocol is unreachable',
  3: 'the port is unreachable',
  4: TOO_BIG,
  9: 'the network is prohibited',
  10: 'the host is prohibited',
  13: 'a filter prohibits it',
};

const UNREACHABLE6: Readonly<Record<number, string>> = {
  0: 'there is no route',
  1: 'a filter prohibits it',
  3: 'the address is unreachable',
  4: 'the port is unreachable',
  5: 'a filter prohibits the source',
  6: 'the route rejects it',
};
