/** What passes by on the links of a namespace, taken apart: Ethernet, IP, UDP and VXLAN. */
import { type Addr, Mac } from '@heddle/netaddr';
import { AF, bind, type NetnsHandle, recv, SOCK, socket } from '@heddle/sys';
import { addr4, addr6, bytes, decode, encode, pad, struct, u8, u16be, u32be } from '@heddle/wire';
import { sockaddrLl } from '@heddle/wire/sockaddr';

/** An Ethernet frame with an IP packet in it. */
export interface Frame {
  readonly from: Mac;
  readonly to: Mac;
  readonly packet: Packet;
}

/** An IP packet. */
export interface Packet {
  readonly source: Addr;
  readonly destination: Addr;
  /** The number of what it carries, as IANA has it; in IPv6 that of the first header. */
  readonly protocol: number;
  /** TTL, or hop limit. */
  readonly ttl: number;
  /** With its header, in bytes. */
  readonly length: number;
  /** What it carries in VXLAN, if it is UDP to VXLAN's port. */
  readonly vxlan?: Vxlan;
}

/** A frame in VXLAN (RFC 7348). */
export interface Vxlan {
  readonly port: number;
  readonly flags: number;
  readonly vni: number;
  readonly frame: Frame | undefined;
}

/**
 * Listens on all links of a namespace.
 *
 * @example
 * using capture = new Capture(segment.handle);
 * pod.pings('10.244.1.2');
 * capture.take().filter(({ packet }) => packet.protocol === IP_PROTOCOLS.udp);
 */
export class Capture implements Disposable {
  readonly #fd;

  constructor(netns: NetnsHandle) {
    this.#fd = socket({ family: AF.PACKET, type: SOCK.RAW, protocol: 0, netns, nonblocking: true });
    bind(this.#fd, encode(sockaddrLl, { family: AF.PACKET, protocol: ETH_P_ALL, index: 0 }));
  }

  /** What came since it was asked last; frames that carry no IP are left out. */
  take(): readonly Frame[] {
    const frames: Frame[] = [];
    for (let got = recv(this.#fd); got !== undefined; got = recv(this.#fd)) {
      const frame = readFrame(got);
      if (frame !== undefined) frames.push(frame);
    }
    return frames;
  }

  [Symbol.dispose](): void {
    this.#fd.close();
  }
}

/** Numbers of protocols in IP headers. */
export const IP_PROTOCOLS = { icmp: 1, udp: 17, icmp6: 58 } as const;

const VXLAN_PORT = 4789;
/** linux/if_ether.h */
const ETH_P_ALL = 3;
const ETH_P_IP = 0x0800;
const ETH_P_IPV6 = 0x86dd;

const ethernet = struct('Ethernet header', { to: bytes(6), from: bytes(6), type: u16be });
/** RFC 791 §3.1 */
const ipv4 = struct('IPv4 header', {
  version: u8,
  tos: u8,
  length: u16be,
  id: u16be,
  fragment: u16be,
  ttl: u8,
  protocol: u8,
  checksum: u16be,
  source: addr4,
  destination: addr4,
});
/** RFC 8200 §3 */
const ipv6 = struct('IPv6 header', {
  version: u32be,
  payload: u16be,
  protocol: u8,
  ttl: u8,
  source: addr6,
  destination: addr6,
});
const udp = struct('UDP header', { from: u16be, to: u16be, length: u16be, checksum: u16be });
/** RFC 7348 §5; the identifier is followed by a reserved byte. */
const vxlan = struct('VXLAN header', { flags: u8, _reserved: pad(3), vni: u32be });
const [ETHERNET_SIZE, IPV6_SIZE, UDP_SIZE, VXLAN_SIZE] = [14, 40, 8, 8];

function readFrame(frame: Uint8Array): Frame | undefined {
  const { to, from, type } = decode(ethernet, frame);
  if (type !== ETH_P_IP && type !== ETH_P_IPV6) return undefined;
  const packet = readPacket(frame.subarray(ETHERNET_SIZE), type === ETH_P_IP ? 4 : 6);
  return { from: Mac.fromBytes(from), to: Mac.fromBytes(to), packet };
}

function readPacket(packet: Uint8Array, family: 4 | 6): Packet {
  if (family === 6) {
    const { source, destination, protocol, ttl, payload } = decode(ipv6, packet);
    const length = payload + IPV6_SIZE;
    return { source, destination, protocol, ttl, length, ...carried(protocol, packet.subarray(IPV6_SIZE)) };
  }
  const { version, source, destination, protocol, ttl, length } = decode(ipv4, packet);
  const size = (version & 0x0f) * 4;
  return { source, destination, protocol, ttl, length, ...carried(protocol, packet.subarray(size)) };
}

function carried(protocol: number, payload: Uint8Array): Pick<Packet, 'vxlan'> {
  if (protocol !== IP_PROTOCOLS.udp) return {};
  const { to: port } = decode(udp, payload);
  if (port !== VXLAN_PORT) return {};
  const { flags, vni } = decode(vxlan, payload.subarray(UDP_SIZE));
  return {
    vxlan: { port, flags, vni: vni >>> 8, frame: readFrame(payload.subarray(UDP_SIZE + VXLAN_SIZE)) },
  };
}
