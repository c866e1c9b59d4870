/** Where packets go and come from, as the kernel has it. */
import type { Addr } from '@heddle/netaddr';
import { AF } from '@heddle/sys';
import { decode, encode } from '@heddle/wire';
import { sockaddrIn, sockaddrIn6 } from '@heddle/wire/sockaddr';

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
