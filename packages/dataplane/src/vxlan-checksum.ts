/** Checksums of VXLAN packets that older kernels get wrong. */
import type { KernelSession } from '@heddle/netlink';
import { AF, ethtool, SOCK, SysError, socket } from '@heddle/sys';
import { decode, encode, struct, u32 } from '@heddle/wire';

/**
 * Whether a kernel has the fault: before Linux 5.7 (and 5.4.41, 4.19.123, 4.14.181) address translation filled in a UDP
 * checksum of a VXLAN packet that has none, wrongly, and receivers drop it. A link that leaves no checksums to an offload
 * is not affected.
 *
 * @param release as `uname -r` says it
 * @example hasVxlanChecksumFault('4.19.100-amd64') // true
 */
export function hasVxlanChecksumFault(release: string): boolean {
  const [major = 0, minor = 0, patch = 0] = release.split(/[.-]/).map(Number);
  const fixed = FIXED_IN.find(([ownMajor, ownMinor]) => ownMajor === major && ownMinor === minor);
  if (fixed !== undefined) return patch < fixed[2];
  return major < 5 || (major === 5 && minor < 7);
}

/** Long-term kernels that got the correction. */
const FIXED_IN = [
  [5, 6, 13],
  [5, 4, 41],
  [4, 19, 123],
  [4, 14, 181],
] as const;

/** struct ethtool_value */
const ethtoolValue = struct('ethtool_value', { command: u32, data: u32 });
/** ETHTOOL_GTXCSUM, ETHTOOL_STXCSUM */
const GET_TX_CHECKSUM = 0x16;
const SET_TX_CHECKSUM = 0x17;

/** Whether a link leaves the checksums of what it sends to an offload; not where it cannot say. */
export function leavesChecksums(session: KernelSession, name: string): boolean {
  try {
    return ask(session, name, GET_TX_CHECKSUM, 0) !== 0;
  } catch (error) {
    if (SysError.is(error, 'EOPNOTSUPP', 'ENODEV', 'EPERM')) return false;
    throw error;
  }
}

/**
 * Has a link fill in the checksums of what it sends itself: `ethtool -K NAME tx-checksum-ip-generic off`.
 *
 * @throws {SysError} EOPNOTSUPP when it cannot do otherwise, ENODEV when there is no such link
 */
export function fillInChecksums(session: KernelSession, name: string): void {
  ask(session, name, SET_TX_CHECKSUM, 0);
}

function ask({ handle }: KernelSession, name: string, command: number, data: number): number {
  using fd = socket({ family: AF.INET, type: SOCK.DGRAM, netns: handle });
  return decode(ethtoolValue, ethtool(fd, name, encode(ethtoolValue, { command, data }))).data;
}
