/** Where packets go and come from, as the kernel has it. */
import type { Addr } from '@heddle/netaddr';
import { AF } from '@heddle/sys';
import { addr4, addr6, decode, encode, pad, struct, u16, u16be, u32, u32be } from '@heddle/wire';

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

/** An address and a port. Both may be left to the kernel with the family's zero address and port 0. */
export function socketAddress(address: Addr, port = 0): Uint8Array {
  return address.family === 4
    ? encode(sockaddrIn, { family: AF.INET, port, address })
    : encode(sockaddrIn6, { family: AF.INET6, port, address });
}

/** The address in what the kernel says of a peer. */
export function addressIn(bytes: Uint8Array, family: 4 | 6): Addr {
  return family === 4 ? decode(sockaddrIn, bytes).address : decode(sockaddrIn6, bytes).address;
}

/** The kernel's number of a family. */
export function familyNumber(family: 4 | 6): number {
  return family === 4 ? AF.INET : AF.INET6;
}
