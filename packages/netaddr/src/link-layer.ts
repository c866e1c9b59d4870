/** Addresses that follow from other addresses where IP meets Ethernet. */

import { Addr } from './addr.ts';
import { AddrError } from './addr-error.ts';
import { Mac } from './mac.ts';

/**
 * The solicited-node multicast address of an IPv6 address, `ff02::1:ffXX:XXXX` (RFC 4291 §2.7.1): where
 * neighbour solicitations for it go. `AddrError` for IPv4.
 *
 * @example solicitedNode(Addr.parse('2001:db8::5')); // ff02::1:ff00:5
 */
export function solicitedNode(addr: Addr): Addr {
  if (addr.family !== 6) throw new AddrError(`no solicited-node address for ${addr} (IPv6 only)`);
  const bytes = addr.toBytes();
  bytes.set([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff]);
  return Addr.fromBytes(bytes);
}

/**
 * The link-local address that an interface with this MAC gives itself by default: `fe80::/64` and the modified
 * EUI-64 identifier (RFC 4291, appendix A).
 *
 * @example linkLocalFromMac(Mac.parse('0a:58:0a:f4:00:05')); // fe80::858:aff:fef4:5
 */
export function linkLocalFromMac(mac: Mac): Addr {
  const bytes = new Uint8Array(16);
  const eui = mac.toBytes();
  bytes.set([0xfe, 0x80]);
  bytes.set(eui.subarray(0, 3), 8);
  bytes.set([0xff, 0xfe], 11);
  bytes.set(eui.subarray(3), 13);
  bytes[8] = (bytes[8] ?? 0) ^ 0x02;
  return Addr.fromBytes(bytes);
}

/**
 * The Ethernet group address that an IP multicast address is sent to: `01:00:5e` and 23 bits for IPv4
 * (RFC 1112 §6.4), `33:33` and 32 bits for IPv6 (RFC 2464 §7). `AddrError` for any other address.
 *
 * @example multicastMac(Addr.parse('ff02::1')); // 33:33:00:00:00:01
 */
export function multicastMac(addr: Addr): Mac {
  if (!addr.isMulticast) throw new AddrError(`no multicast MAC for ${addr} (not a multicast address)`);
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0] = addr.toBytes().subarray(-4);
  if (addr.unmap().family === 4) return Mac.fromBytes(Uint8Array.of(1, 0, 0x5e, b1 & 0x7f, b2, b3));
  return Mac.fromBytes(Uint8Array.of(0x33, 0x33, b0, b1, b2, b3));
}
