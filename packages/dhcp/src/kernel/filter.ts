/**
 * Which packets a channel past the host's IP is woken for, as a program of the classic packet filter
 * (linux/filter.h): DHCP's answers and ARP, and nothing that the host sent itself or that belongs to a VLAN.
 */
import { encode, repeated, struct, u8, u16, u32 } from '@heddle/wire';

/** The program. It is for a socket whose packets begin with the IP header (SOCK_DGRAM). */
export function dhcpFilter(): Uint8Array {
  return encode(
    repeated(instruction),
    assemble([
      { code: LOAD_BYTE, k: PACKET_TYPE },
      { code: IF_EQUAL, k: PACKET_OUTGOING, yes: 'drop' },
      { code: LOAD_BYTE, k: VLAN_PRESENT },
      { code: IF_EQUAL, k: 0, no: 'drop' },
      { code: LOAD_HALF, k: PROTOCOL },
      { code: IF_EQUAL, k: ETH_P_ARP, yes: 'take' },
      { code: IF_EQUAL, k: ETH_P_IP, no: 'drop' },
      { code: LOAD_BYTE, k: IP_PROTOCOL_AT },
      { code: IF_EQUAL, k: IPPROTO_UDP, no: 'drop' },
      { code: LOAD_HALF, k: IP_FRAGMENT_AT },
      { code: IF_BITS, k: 0x1fff, yes: 'drop' },
      { code: X_IP_HEADER_LENGTH, k: 0 },
      { code: LOAD_HALF_FROM_X, k: UDP_DESTINATION_AT },
      { code: IF_EQUAL, k: CLIENT, no: 'drop' },
    ]),
  );
}

/** linux/if_ether.h */
export const ETH_P_IP = 0x0800;
/** linux/if_ether.h */
export const ETH_P_ARP = 0x0806;

/** struct sock_filter */
const instruction = struct('sock_filter', { code: u16, jt: u8, jf: u8, k: u32 });

interface Step {
  readonly code: number;
  readonly k: number;
  readonly yes?: 'take' | 'drop';
  readonly no?: 'take' | 'drop';
}

/** Jumps count from the next instruction; the two ends of the program come last. */
function assemble(steps: readonly Step[]) {
  const ends = { take: steps.length, drop: steps.length + 1 };
  const jump = (from: number, to: Step['yes']) => (to === undefined ? 0 : ends[to] - from - 1);
  return [
    ...steps.map(({ code, k, yes, no }, at) => ({
      ...{ code, k },
      jt: jump(at, yes),
      jf: jump(at, no),
    })),
    { code: RETURN, k: 0xffff_ffff },
    { code: RETURN, k: 0 },
  ];
}

/** BPF_LD | BPF_B | BPF_ABS */
const LOAD_BYTE = 0x30;
/** BPF_LD | BPF_H | BPF_ABS */
const LOAD_HALF = 0x28;
/** BPF_LD | BPF_H | BPF_IND */
const LOAD_HALF_FROM_X = 0x48;
/** BPF_LDX | BPF_B | BPF_MSH: four times the low half of the byte */
const X_IP_HEADER_LENGTH = 0xb1;
/** BPF_JMP | BPF_JEQ | BPF_K */
const IF_EQUAL = 0x15;
/** BPF_JMP | BPF_JSET | BPF_K */
const IF_BITS = 0x45;
/** BPF_RET | BPF_K */
const RETURN = 0x06;

/** SKF_AD_OFF: what lies there is said about the packet, not in it. */
const ABOUT = 0xffff_f000;
/** SKF_AD_PROTOCOL */
const PROTOCOL = ABOUT + 0;
/** SKF_AD_PKTTYPE */
const PACKET_TYPE = ABOUT + 4;
/** SKF_AD_VLAN_TAG_PRESENT */
const VLAN_PRESENT = ABOUT + 48;
/** linux/if_packet.h */
const PACKET_OUTGOING = 4;

const IP_FRAGMENT_AT = 6;
const IP_PROTOCOL_AT = 9;
const UDP_DESTINATION_AT = 2;
const IPPROTO_UDP = 17;
const CLIENT = 68;
