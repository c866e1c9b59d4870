/**
 * Messages past the host's own IP: through a packet socket, for an interface whose address is not known yet, or not
 * to be relied on — packet(7).
 */
import { type Addr, Mac } from '@heddle/netaddr';
import { AF, attachFilter, bind, type NetnsHandle, recvFrom, SOCK, send, socket, watch } from '@heddle/sys';
import { decode, encode } from '@heddle/wire';
import { sockaddrLl } from '@heddle/wire/sockaddr';
import { Inbox } from '../client/inbox.ts';
import type { Clock, Destination, LinkChannel, Received } from '../client/ports.ts';
import { type ArpPacket, arpPacket, arpProbe, conflictIn } from '../message/arp.ts';
import { decodeDatagram, encodeDatagram } from '../message/datagram.ts';
import { CLIENT_PORT, type DhcpMessageInput, dhcpMessage, SERVER_PORT } from '../message/message.ts';
import { dhcpFilter, ETH_P_ARP, ETH_P_IP } from './filter.ts';
import { readable, unlessDown } from './readable.ts';

/** Where a channel is opened. */
export interface LinkPlace {
  readonly netns: NetnsHandle;
  readonly index: number;
  readonly mac: Mac;
  readonly clock: Clock;
}

/** Opens a channel on an Ethernet link that is up. */
export function openLinkChannel({ netns, index, mac, clock }: LinkPlace): LinkChannel {
  // Nothing is received before bind(2) names the link and the protocol, and by then the filter is there.
  const fd = socket({ family: AF.PACKET, type: SOCK.DGRAM, protocol: 0, netns, nonblocking: true });
  const messages = new Inbox<Received>();
  const arps = new Inbox<ArpPacket>();
  const take = (): void => {
    for (let got = recvFrom(fd); got !== undefined; got = recvFrom(fd)) {
      const { protocol, address } = decode(sockaddrLl, got.from);
      const { bytes } = got;
      if (protocol === ETH_P_ARP) readable(arpPacket, bytes, (packet) => arps.push(packet));
      const datagram = protocol === ETH_P_IP ? decodeDatagram(bytes) : undefined;
      if (datagram?.to.port !== CLIENT_PORT) continue;
      const from = { mac: Mac.fromBytes(address.subarray(0, 6)) };
      readable(dhcpMessage, datagram.payload, (message) => messages.push({ message, ...from }));
    }
  };
  try {
    attachFilter(fd, dhcpFilter());
    bind(fd, encode(sockaddrLl, { family: AF.PACKET, protocol: ETH_P_ALL, index }));
    watch(fd, () => unlessDown(take, [messages, arps]), { unref: true });
  } catch (error) {
    fd.close();
    throw error;
  }
  const transmit = (protocol: number, to: Mac, packet: Uint8Array) => {
    const target = { family: AF.PACKET, protocol, index, addressLength: 6, address: to.toBytes() };
    send(fd, packet, { to: encode(sockaddrLl, target) });
  };
  return {
    send: (message, { from, to, mac: neighbour }) =>
      transmit(ETH_P_IP, neighbour ?? Mac.BROADCAST, packetOf(message, from, to)),
    receive: (deadline, signal) => messages.next(clock, deadline, signal),
    async probe(address, milliseconds, signal) {
      const deadline = clock.now() + milliseconds;
      // The first may get lost; a third would only cost time (RFC 5227 is more patient than a container can be).
      for (const until of [deadline - milliseconds / 2, deadline]) {
        transmit(ETH_P_ARP, Mac.BROADCAST, encode(arpPacket, arpProbe(mac, address)));
        for (;;) {
          const packet = await arps.next(clock, until, signal);
          if (packet === undefined) break;
          const holder = conflictIn(packet, mac, address);
          if (holder !== undefined) return holder;
        }
      }
      return undefined;
    },
    [Symbol.dispose]: () => fd.close(),
  };
}

function packetOf(message: DhcpMessageInput, from: Addr, to: Destination['to']): Uint8Array {
  return encodeDatagram({
    from: { address: from, port: CLIENT_PORT },
    to: { address: to, port: SERVER_PORT },
    payload: encode(dhcpMessage, message),
  });
}

/** linux/if_ether.h */
const ETH_P_ALL = 3;
