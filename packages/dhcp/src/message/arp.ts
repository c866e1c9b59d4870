/** Asking a link whether somebody has an address already: ARP probes — RFC 826, RFC 5227 §2.1. */
import { type Addr, Mac } from '@heddle/netaddr';
import { addr4, type Codec, mac, oneOf, struct, u8, u16be } from '@heddle/wire';

/** An ARP packet for IPv4 on Ethernet. */
export interface ArpPacket {
  readonly operation: 'request' | 'reply' | number;
  readonly senderMac: Mac;
  readonly senderAddress: Addr;
  readonly targetMac: Mac;
  readonly targetAddress: Addr;
}

/** RFC 826, for Ethernet and IPv4 */
const packet = struct('ARP packet', {
  hardwareType: u16be,
  protocolType: u16be,
  hardwareLength: u8,
  protocolLength: u8,
  operation: oneOf(u16be, { request: 1, reply: 2 }),
  senderMac: mac,
  senderAddress: addr4,
  targetMac: mac,
  targetAddress: addr4,
});

/** The format of a packet. */
export const arpPacket: Codec<ArpPacket, ArpPacket> = {
  ...packet,
  write: (writer, value) =>
    packet.write(writer, {
      ...value,
      ...{ hardwareType: 1, protocolType: 0x0800, hardwareLength: 6, protocolLength: 4 },
    }),
};

/** A question for whoever has `target`. It tells no address of the asker's, so that nobody remembers one. */
export function arpProbe(sender: Mac, target: Addr): ArpPacket {
  const nobody = target.masked(0);
  return {
    operation: 'request',
    senderMac: sender,
    senderAddress: nobody,
    targetMac: Mac.ZERO,
    targetAddress: target,
  };
}

/**
 * Who else has, or is about to take, the address that was probed for.
 *
 * @param own the MAC address of the interface that probes
 * @returns undefined for a packet that says nothing about it
 */
export function conflictIn(received: ArpPacket, own: Mac, probed: Addr): Mac | undefined {
  const { senderMac, senderAddress, targetAddress, operation } = received;
  if (senderMac.equals(own)) return undefined;
  if (senderAddress.equals(probed)) return senderMac;
  const probes = operation === 'request' && senderAddress.isUnspecified && targetAddress.equals(probed);
  return probes ? senderMac : undefined;
}
