/**
 * The Ethernet frames that tell neighbours which MAC an address has now. Declared values; nothing here
 * touches the kernel. Sources: RFC 826 and RFC 5944 §4.6 (gratuitous ARP), RFC 4861 §4.4 and §7.2.6
 * (unsolicited neighbour advertisement), RFC 8200 §8.1 (the checksum's pseudo header).
 */
import { Addr, Mac, multicastMac } from '@heddle/netaddr';
import { addr4, addr6, encode, mac, pad, struct, u8, u16be, u32be } from '@heddle/wire';

/** struct ethhdr — linux/if_ether.h */
export const ethernetHeader = struct('ethhdr', { destination: mac, source: mac, protocol: u16be });

/** An ARP packet for IPv4 over Ethernet: struct arphdr — linux/if_arp.h, with its addresses. */
export const arpPacket = struct('arphdr', {
  hardwareType: u16be,
  protocolType: u16be,
  hardwareLength: u8,
  protocolLength: u8,
  operation: u16be,
  senderMac: mac,
  senderAddress: addr4,
  targetMac: mac,
  targetAddress: addr4,
});

/** struct ipv6hdr — linux/ipv6.h; `version` holds the traffic class and the flow label as well. */
export const ipv6Header = struct('ipv6hdr', {
  version: u32be,
  payloadLength: u16be,
  nextHeader: u8,
  hopLimit: u8,
  source: addr6,
  destination: addr6,
});

/** struct nd_msg — net/ndisc.h, with one option: the target's link-layer address. */
export const neighbourAdvertisement = struct('nd_msg', {
  type: u8,
  code: u8,
  checksum: u16be,
  flags: u8,
  reserved: pad(3),
  target: addr6,
  optionType: u8,
  optionLength: u8,
  targetMac: mac,
});

/** The part of an IPv6 packet that its checksum covers beside the payload — RFC 8200 §8.1. */
const pseudoHeader = struct('ipv6 pseudo header', {
  source: addr6,
  destination: addr6,
  length: u32be,
  zero: pad(3),
  nextHeader: u8,
});

/**
 * The frame that announces `address` at `source`: a broadcast ARP request for itself, or an unsolicited
 * neighbour advertisement to all nodes. A neighbour that knew another MAC takes the new one from it.
 *
 * @example await container.packets.send('eth0', announcement(mac, Addr.parse('10.1.2.3')));
 */
export function announcement(source: Mac, address: Addr): Uint8Array {
  return address.family === 4 ? gratuitousArp(source, address) : unsolicitedAdvertisement(source, address);
}

function gratuitousArp(source: Mac, address: Addr): Uint8Array {
  return concat(
    encode(ethernetHeader, { destination: Mac.BROADCAST, source, protocol: ETH_P.ARP }),
    encode(arpPacket, {
      hardwareType: ARPHRD_ETHER,
      protocolType: ETH_P.IP,
      hardwareLength: 6,
      protocolLength: 4,
      operation: ARPOP_REQUEST,
      senderMac: source,
      senderAddress: address,
      targetAddress: address,
    }),
  );
}

function unsolicitedAdvertisement(source: Mac, address: Addr): Uint8Array {
  const body = {
    type: ND_NEIGHBOR_ADVERT,
    flags: NA_OVERRIDE,
    target: address,
    optionType: ND_OPT_TARGET_LL_ADDR,
    // In units of eight bytes.
    optionLength: 1,
    targetMac: source,
  };
  const unsummed = encode(neighbourAdvertisement, body);
  const checksum = internetChecksum(
    concat(
      encode(pseudoHeader, {
        source: address,
        destination: ALL_NODES,
        length: unsummed.length,
        nextHeader: IPPROTO_ICMPV6,
      }),
      unsummed,
    ),
  );
  return concat(
    encode(ethernetHeader, { destination: multicastMac(ALL_NODES), source, protocol: ETH_P.IPV6 }),
    encode(ipv6Header, {
      version: 6 * 2 ** 28,
      payloadLength: unsummed.length,
      nextHeader: IPPROTO_ICMPV6,
      // Receivers drop neighbour discovery that may have crossed a router.
      hopLimit: 255,
      source: address,
      destination: ALL_NODES,
    }),
    encode(neighbourAdvertisement, { ...body, checksum }),
  );
}

/**
 * The one's complement of the one's complement sum of all 16-bit words (RFC 1071). Over data that holds its
 * own checksum it is zero.
 */
export function internetChecksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) {
    sum += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000);
  return ~sum & 0xffff;
}

/** linux/if_ether.h */
const ETH_P = { IP: 0x0800, ARP: 0x0806, IPV6: 0x86dd } as const;
/** linux/if_arp.h */
const ARPHRD_ETHER = 1;
const ARPOP_REQUEST = 1;
/** linux/icmpv6.h, net/ndisc.h */
const IPPROTO_ICMPV6 = 58;
const ND_NEIGHBOR_ADVERT = 136;
const ND_OPT_TARGET_LL_ADDR = 2;
const NA_OVERRIDE = 0x20;
const ALL_NODES = Addr.parse('ff02::1');

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
