/**
 * Messages through the host's own IP: it finds the way to the server, over routers too, and answers no stray
 * "port unreachable" to what comes back — udp(7), RFC 2131 §4.1.
 */
import { Addr } from '@heddle/netaddr';
import {
  AF,
  bind,
  type Fd,
  type NetnsHandle,
  recv,
  SO,
  SOCK,
  SOL,
  send,
  setsockopt,
  socket,
  watch,
} from '@heddle/sys';
import { encode } from '@heddle/wire';
import { sockaddrIn } from '@heddle/wire/sockaddr';
import { Inbox } from '../client/inbox.ts';
import type { Channel, Clock, Received } from '../client/ports.ts';
import { CLIENT_PORT, dhcpMessage, SERVER_PORT } from '../message/message.ts';
import { readable, unlessDown } from './readable.ts';

/** Where a channel is opened. */
export interface AddressPlace {
  readonly netns: NetnsHandle;
  /** The interface's name. */
  readonly name: string;
  /** An address of that interface. */
  readonly address: Addr;
  readonly clock: Clock;
}

/**
 * Opens a channel.
 *
 * @throws {SysError} EADDRNOTAVAIL when the host does not have the address; EADDRINUSE when somebody has the port
 */
export function openAddressChannel({ netns, name, address, clock }: AddressPlace): Channel {
  const messages = new Inbox<Received>();
  const open = (local: Addr): Fd => {
    const fd = socket({ family: AF.INET, type: SOCK.DGRAM, netns, nonblocking: true });
    try {
      setsockopt(fd, SOL.SOCKET, SO.BINDTODEVICE, new TextEncoder().encode(`${name}\0`));
      setsockopt(fd, SOL.SOCKET, SO.REUSEADDR, 1);
      setsockopt(fd, SOL.SOCKET, SO.BROADCAST, 1);
      bind(fd, encode(sockaddrIn, { family: AF.INET, port: CLIENT_PORT, address: local }));
      const take = () => {
        for (let got = recv(fd); got !== undefined; got = recv(fd)) {
          readable(dhcpMessage, got, (message) => messages.push({ message }));
        }
      };
      watch(fd, () => unlessDown(take, [messages]), { unref: true });
      return fd;
    } catch (error) {
      fd.close();
      throw error;
    }
  };
  const own = open(address);
  // A refusal is broadcast (RFC 2131 §4.3.2), which a socket with an address does not hear.
  const all = closing(own, () => open(Addr.ZERO4));
  return {
    send(message, { to }) {
      const server = encode(sockaddrIn, { family: AF.INET, port: SERVER_PORT, address: to });
      send(own, encode(dhcpMessage, message), { to: server });
    },
    receive: (deadline, signal) => messages.next(clock, deadline, signal),
    [Symbol.dispose]() {
      own.close();
      all.close();
    },
  };
}

/** Runs the next step, and closes what there is when it fails. */
function closing<T>(opened: Fd, next: () => T): T {
  try {
    return next();
  } catch (error) {
    opened.close();
    throw error;
  }
}
