/**
 * Asking a link who has an address. The questions are those that every host asks all the time, ARP probes that tell no
 * address of the asker's (RFC 5227 §2.1.1) and neighbour solicitations: nobody learns anything from them, and nobody
 * is told to give an address up.
 */
import { arpPacket, arpProbe } from '@heddle/dhcp/arp';
import { type Addr, Mac, solicitedNode } from '@heddle/netaddr';
import {
  AF,
  bind,
  type Fd,
  type NetnsHandle,
  recvFrom,
  SO,
  SOCK,
  SOL,
  SysError,
  send,
  setsockopt,
  socket,
} from '@heddle/sys';
import { addr6, bytes, decode, encode, struct, u8, u16be, u32be, WireError } from '@heddle/wire';
import { sockaddrLl } from '@heddle/wire/sockaddr';
import { socketAddress } from './socket-address.ts';

/** The link to ask on. */
export interface AskedLink {
  readonly netns: NetnsHandle;
  readonly index: number;
  readonly name: string;
  readonly mac: Mac;
}

/** How patiently to ask. */
export interface AskOptions {
  /** Waits, in milliseconds. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** How many questions at once. After each lot there is a pause, so that a link is never flooded. */
  readonly lot?: number;
}

/** For each address, in its canonical text, the MAC addresses of those who say that they have it. */
export type Holders = ReadonlyMap<string, ReadonlySet<string>>;

/** Asks for some addresses, each once. */
export async function whoHas(
  link: AskedLink,
  addresses: readonly Addr[],
  options: AskOptions,
): Promise<Holders> {
  const holders = new Map<string, Set<string>>();
  const note = (address: Addr, mac: Mac) => {
    const key = String(address);
    holders.set(key, (holders.get(key) ?? new Set()).add(String(mac)));
  };
  for (const [family, open] of [
    [4, openArp],
    [6, openNeighbourDiscovery],
  ] as const) {
    const some = addresses.filter((address) => address.family === family);
    if (some.length > 0) await askAll(open(link), some, options, note);
  }
  return holders;
}

/** Sends questions and takes in answers. */
interface Asker extends Disposable {
  ask(address: Addr): void;
  take(note: (address: Addr, mac: Mac) => void): void;
}

async function askAll(
  asker: Asker,
  addresses: readonly Addr[],
  { sleep, lot = LOT }: AskOptions,
  note: (address: Addr, mac: Mac) => void,
): Promise<void> {
  using _asker = asker;
  const wanted = new Set(addresses.map(String));
  const heard = (address: Addr, mac: Mac) => wanted.has(String(address)) && note(address, mac);
  for (let at = 0; at < addresses.length; at += lot) {
    for (const address of addresses.slice(at, at + lot)) asker.ask(address);
    await sleep(PAUSE);
    asker.take(heard);
  }
  await sleep(LAST_WAIT);
  asker.take(heard);
}

const LOT = 16;
const PAUSE = 25;
const LAST_WAIT = 250;

function openArp({ netns, index, mac }: AskedLink): Asker {
  const fd = socket({ family: AF.PACKET, type: SOCK.DGRAM, protocol: 0, netns, nonblocking: true });
  const everyone = { family: AF.PACKET, protocol: ETH_P_ARP, index, addressLength: 6 };
  const to = encode(sockaddrLl, { ...everyone, address: padded(Mac.BROADCAST) });
  bind(fd, encode(sockaddrLl, { family: AF.PACKET, protocol: ETH_P_ARP, index, address: NOTHING }));
  return {
    ask: (address) => quietly(() => send(fd, encode(arpPacket, arpProbe(mac, address)), { to })),
    take(note) {
      for (const { bytes: packet } of received(fd)) {
        const arp = readable(() => decode(arpPacket, packet));
        if (arp === undefined || arp.senderAddress.isUnspecified || arp.senderMac.equals(mac)) continue;
        note(arp.senderAddress, arp.senderMac);
      }
    },
    [Symbol.dispose]: () => fd.close(),
  };
}

function openNeighbourDiscovery({ netns, index, name, mac }: AskedLink): Asker {
  const fd = socket({ family: AF.INET6, type: SOCK.RAW, protocol: IPPROTO_ICMPV6, netns, nonblocking: true });
  setsockopt(fd, SOL.SOCKET, SO.BINDTODEVICE, new TextEncoder().encode(`${name}\0`));
  setsockopt(fd, SOL.IPV6, IPV6_MULTICAST_HOPS, 255);
  setsockopt(fd, SOL.IPV6, IPV6_MULTICAST_IF, index);
  return {
    ask(target) {
      const question = encode(solicitation, {
        type: 135,
        target,
        optionType: 1,
        optionLength: 1,
        mac: mac.toBytes(),
      });
      quietly(() => send(fd, question, { to: socketAddress(solicitedNode(target), index) }));
    },
    take(note) {
      for (const { bytes: packet } of received(fd)) {
        const answer =
          packet[0] === 136 ? readable(() => decode(solicitation, packet.subarray(0, 32))) : undefined;
        if (answer?.optionType !== 2) continue;
        const holder = Mac.fromBytes(answer.mac);
        if (!holder.equals(mac)) note(answer.target, holder);
      }
    },
    [Symbol.dispose]: () => fd.close(),
  };
}

/** A neighbour solicitation or advertisement with one option, a link-layer address — RFC 4861 §4.3, §4.4 */
const solicitation = struct('neighbour message', {
  type: u8,
  code: u8,
  checksum: u16be,
  flags: u32be,
  target: addr6,
  optionType: u8,
  optionLength: u8,
  mac: bytes(6),
});

function* received(fd: Fd): Generator<{ readonly bytes: Uint8Array }> {
  for (;;) {
    let got: ReturnType<typeof recvFrom>;
    try {
      got = recvFrom(fd);
    } catch (error) {
      // The link went down: there is nothing more to hear.
      if (error instanceof SysError) return;
      throw error;
    }
    if (got === undefined) return;
    yield got;
  }
}

/** A question that cannot be sent has no answer. */
function quietly(ask: () => unknown): void {
  try {
    ask();
  } catch (error) {
    if (!(error instanceof SysError)) throw error;
  }
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

function padded(mac: Mac): Uint8Array {
  const address = new Uint8Array(8);
  address.set(mac.toBytes());
  return address;
}

const NOTHING = new Uint8Array(8);
/** linux/if_ether.h */
const ETH_P_ARP = 0x0806;
const IPPROTO_ICMPV6 = 58;
/** linux/in6.h */
const IPV6_MULTICAST_IF = 17;
const IPV6_MULTICAST_HOPS = 18;
