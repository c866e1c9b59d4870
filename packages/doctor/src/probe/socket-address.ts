/** Where packets go and come from, as the kernel has it. */
import type { Addr } from '@heddle/netaddr';
import { AF } from '@heddle/sys';
import { addr4, addr6, bytes, encode, i32, pad, struct, u8, u16, u16be, u32, u32be } from '@heddle/wire';

/** struct sockaddr_in — linux/in.h */
const sockaddrIn = struct('sockaddr_in', { family: u16, port: u16be, address: addr4, zero: pad(8) });

/** struct sockaddr_in6 — linux/in6.h */
const sockaddrIn6 = struct('sockaddr_in6', {
  family: u16,
  port: u16be,
  flow: u32be,
  address: addr6,
  scope: u32,
});

/** struct sockaddr_ll — linux/if_packet.h */
export const sockaddrLl = struct('sockaddr_ll', {
  family: u16,
  protocol: u16be,
  index: i32,
  hardwareType: u16,
  packetType: u8,
  addressLength: u8,
  address: bytes(8),
});

/**
 * An address without a port.
 *
 * @param link the index of the link that a link-local IPv6 address is on
 */
export function socketAddress(address: Addr, link = 0): Uint8Array {
  if (address.family === 4) return encode(sockaddrIn, { family: AF.INET, address });
  const scope = address.isLinkLocal || address.isMulticast ? link : 0;
  return encode(sockaddrIn6, { family: AF.INET6, address, scope });
}
