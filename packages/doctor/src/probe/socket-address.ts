/** Where packets go and come from, as the kernel has it. */
import type { Addr } from '@heddle/netaddr';
import { AF } from '@heddle/sys';
import { encode } from '@heddle/wire';
import { sockaddrIn, sockaddrIn6 } from '@heddle/wire/sockaddr';

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
