/** Sending frames: AF_PACKET — packet(7), linux/if_packet.h */
import { AF, type Fd, type NetnsHandle, SOCK, send, socket } from '@heddle/sys';
import { encode } from '@heddle/wire';
import { sockaddrLl } from '@heddle/wire/sockaddr';
import type { IndexOf, LinkRef } from '../core/change.ts';

/** Frames out of the links of a namespace. */
export interface Packets extends Disposable {
  /**
   * Sends a whole Ethernet frame, header included.
   *
   * @throws {SysError} ENETDOWN when the link is down
   */
  send(link: LinkRef, frame: Uint8Array): Promise<void>;
}

/**
 * Frames out of the links of a namespace of this machine, through one socket, opened by the first. Closing
 * a packet socket costs some ten milliseconds, in which the kernel waits for those who may still see it.
 */
export function kernelPackets(netns: () => NetnsHandle | undefined, indexOf: IndexOf): Packets {
  let fd: Fd | undefined;
  return {
    async send(link, frame) {
      const index = await indexOf(link);
      // Protocol 0: the socket takes in nothing.
      fd ??= socket({ family: AF.PACKET, type: SOCK.RAW, protocol: 0, netns: netns() });
      const protocol = new DataView(frame.buffer, frame.byteOffset, frame.length).getUint16(ETHERTYPE_AT);
      send(fd, frame, { to: encode(sockaddrLl, { family: AF.PACKET, protocol, index }) });
    },
    [Symbol.dispose]() {
      fd?.close();
      fd = undefined;
    },
  };
}

/** Behind the two MACs of an Ethernet header. */
const ETHERTYPE_AT = 12;
