/**
 * IPv4 and UDP around a message, for sockets that carry whole packets: a host without an address can neither send
 * nor receive any other way — RFC 791 §3.1, RFC 768.
 */
import type { Addr } from '@heddle/netaddr';
import { addr4, decode, encode, struct, u8, u16be, WireError } from '@heddle/wire';

/** A UDP datagram with its addresses. */
export interface Datagram {
  readonly from: { readonly address: Addr; readonly port: number };
  readonly to: { readonly address: Addr; readonly port: number };
  readonly payload: Uint8Array;
}

/** The bytes of a packet, from its IPv4 header on. */
export function encodeDatagram({ from, to, payload }: Datagram): Uint8Array {
  const length = UDP_SIZE + payload.length;
  const ip = { ...{ version: 0x45, totalLength: IP_SIZE + length, ttl: TTL }, protocol: UDP };
  const addresses = { source: from.address, destination: to.address };
  const udp = { sourcePort: from.port, destinationPort: to.port, length };
  const pseudo = encode(pseudoHeader, { ...addresses, protocol: UDP, length });
  const packet = new Uint8Array(IP_SIZE + length);
  const unsummed = encode(ipHeader, { ...ip, ...addresses });
  packet.set(encode(ipHeader, { ...ip, ...addresses, checksum: checksum([unsummed]) }));
  const sum = checksum([pseudo, encode(udpHeader, udp), payload]);
  // Zero would mean that there is none (RFC 768).
  packet.set(encode(udpHeader, { ...udp, checksum: sum === 0 ? 0xffff : sum }), IP_SIZE);
  packet.set(payload, IP_SIZE + UDP_SIZE);
  return packet;
}

/**
 * Reads a packet. The checksums are not looked at: what comes from the same machine has none yet, because the
 * sending side leaves that to hardware which the packet never met.
 *
 * @returns undefined for what is no whole UDP datagram
 */
export function decodeDatagram(packet: Uint8Array): Datagram | undefined {
  try {
    const ip = decode(ipHeader, packet);
    const size = (ip.version & 0x0f) * 4;
    if (ip.version >> 4 !== 4 || size < IP_SIZE || ip.protocol !== UDP) return undefined;
    if ((ip.fragment & ~DO_NOT_FRAGMENT) !== 0 || ip.totalLength > packet.length) return undefined;
    const udp = decode(udpHeader, packet.subarray(size, ip.totalLength));
    if (udp.length < UDP_SIZE || size + udp.length > ip.totalLength) return undefined;
    return {
      from: { address: ip.source, port: udp.sourcePort },
      to: { address: ip.destination, port: udp.destinationPort },
      payload: packet.slice(size + UDP_SIZE, size + udp.length),
    };
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** The ones' complement of the ones' complement sum of 16-bit words (RFC 1071). */
export function checksum(parts: readonly Uint8Array[]): number {
  let sum = 0;
  for (const part of parts) {
    for (let at = 0; at < part.length; at += 2) sum += ((part[at] ?? 0) << 8) | (part[at + 1] ?? 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** RFC 791 §3.1; the first byte holds the version and the header's length in words */
const ipHeader = struct('IPv4 header', {
  version: u8,
  tos: u8,
  totalLength: u16be,
  id: u16be,
  fragment: u16be,
  ttl: u8,
  protocol: u8,
  checksum: u16be,
  source: addr4,
  destination: addr4,
});

/** RFC 768 */
const udpHeader = struct('UDP header', {
  sourcePort: u16be,
  destinationPort: u16be,
  length: u16be,
  checksum: u16be,
});

/** What UDP's checksum covers in front of the header (RFC 768). */
const pseudoHeader = struct('UDP pseudo header', {
  source: addr4,
  destination: addr4,
  protocol: u16be,
  length: u16be,
});

const IP_SIZE = 20;
const UDP_SIZE = 8;
const UDP = 17;
const TTL = 64;
const DO_NOT_FRAGMENT = 0x4000;
