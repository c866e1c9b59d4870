/** A DHCP server for plugins that ask one: every client gets an address, which is its own until it gives it back. */

import {
  CLIENT_PORT,
  type DhcpMessage,
  type DhcpMessageInput,
  dhcpMessage,
  SERVER_PORT,
} from '@heddle/dhcp/message';
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
import { decode, encode, WireError } from '@heddle/wire';
import { sockaddrIn } from '@heddle/wire/sockaddr';

/** Where a server is. */
export interface ServerPlace {
  readonly netns: NetnsHandle;
  /** The link that it listens on. */
  readonly link: string;
  /** Its own address, the first one of a /16: clients get others of it. */
  readonly address: Addr;
}

/** See the file's comment. It works on the event loop of this process, and does not keep it alive. */
export class DhcpServer implements Disposable {
  readonly #address: Addr;
  readonly #socket: Fd;
  /** By client. */
  readonly #offered = new Map<string, Addr>();
  /** The clients that have taken what they were offered. */
  readonly #taken = new Set<string>();
  #offers = 0;

  constructor({ netns, link, address }: ServerPlace) {
    this.#address = address;
    this.#socket = socket({ family: AF.INET, type: SOCK.DGRAM, netns, nonblocking: true });
    setsockopt(this.#socket, SOL.SOCKET, SO.BINDTODEVICE, new TextEncoder().encode(`${link}\0`));
    setsockopt(this.#socket, SOL.SOCKET, SO.BROADCAST, 1);
    bind(this.#socket, at(Addr.ZERO4, SERVER_PORT));
    watch(this.#socket, () => this.#serve(), { unref: true });
  }

  /** The addresses that clients have, of which it has heard by now. */
  get leases(): readonly Addr[] {
    return [...this.#taken].flatMap((client) => this.#offered.get(client) ?? []);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #serve(): void {
    for (let got = recv(this.#socket); got !== undefined; got = recv(this.#socket)) {
      const asked = messageIn(got);
      const answer = asked?.op === 'request' ? this.#answer(asked) : undefined;
      if (asked === undefined || answer === undefined) continue;
      // A client that has no address yet hears nothing else.
      const to = asked.ciaddr.equals(Addr.ZERO4) ? BROADCAST : asked.ciaddr;
      send(this.#socket, encode(dhcpMessage, answer), { to: at(to, CLIENT_PORT) });
    }
  }

  /** RFC 2131 §4.3 */
  #answer(asked: DhcpMessage): DhcpMessageInput | undefined {
    const { messageType, serverId, clientId, requestedAddress } = asked.options;
    if (serverId !== undefined && !serverId.equals(this.#address)) return undefined;
    const client = Buffer.from(clientId ?? asked.hardwareAddress).toString('hex');
    const own = this.#offered.get(client);
    switch (messageType) {
      case 'discover': {
        const offered = own ?? this.#next();
        this.#offered.set(client, offered);
        return this.#reply(asked, 'offer', offered);
      }
      case 'request': {
        const isOwn = own?.equals(requestedAddress ?? asked.ciaddr) === true;
        if (!isOwn) return this.#reply(asked, 'nak', Addr.ZERO4);
        this.#taken.add(client);
        return this.#reply(asked, 'ack', own);
      }
      case 'release':
      case 'decline':
        this.#offered.delete(client);
        this.#taken.delete(client);
        return undefined;
      default:
        return undefined;
    }
  }

  /** No address is given twice: what a container of before still thinks of it is nobody's trouble. */
  #next(): Addr {
    const n = this.#offers++;
    const [first, second] = this.#address.toBytes();
    return Addr.parse(`${first}.${second}.${1 + Math.floor(n / 250)}.${1 + (n % 250)}`);
  }

  #reply(
    { xid, ciaddr, hardwareAddress }: DhcpMessage,
    messageType: 'offer' | 'ack' | 'nak',
    yiaddr: Addr,
  ): DhcpMessageInput {
    const terms = {
      leaseTime: LEASE_TIME,
      subnetMask: SUBNET_MASK,
      routers: [this.#address],
      nameServers: [this.#address],
    };
    return {
      ...{ op: 'reply', xid, ciaddr, hardwareAddress, yiaddr },
      options: { messageType, serverId: this.#address, ...(messageType !== 'nak' && terms) },
    };
  }
}

/** Seconds: longer than any run of the kit. */
const LEASE_TIME = 24 * 3600;
const SUBNET_MASK = Addr.parse('255.255.0.0');
const BROADCAST = Addr.parse('255.255.255.255');

function messageIn(bytes: Uint8Array): DhcpMessage | undefined {
  try {
    return decode(dhcpMessage, bytes);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

function at(address: Addr, port: number): Uint8Array {
  return encode(sockaddrIn, { family: AF.INET, port, address });
}
