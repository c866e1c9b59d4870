/** Addresses of sockets, as the kernel takes and gives them. Families are numbers of `AF` in `@heddle/sys`. */
import { addr4, addr6, bytes, i32, pad, struct, u8, u16, u16be, u32, u32be } from './index.ts';

/** struct sockaddr_in — linux/in.h */
export const sockaddrIn = struct('sockaddr_in', { family: u16, port: u16be, address: addr4, zero: pad(8) });

/** struct sockaddr_in6 — linux/in6.h */
export const sockaddrIn6 = struct('sockaddr_in6', {
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
