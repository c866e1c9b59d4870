/** Checksums of tunnelled packets that older kernels get wrong. */
import { AF, ethtool, SOCK, SysError, socket } from '@heddle/sys';
import { decode, encode, struct, u32 } from '@heddle/wire';
import type { Finding } from '../finding.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { doctorRule, type NodeCheck } from './check.ts';

const offload = doctorRule({
  id: 'kernel/vxlan-checksum',
  severity: 'warning',
  title: 'Checksums of VXLAN packets are left to an offload that gets them wrong',
  explains:
    'Before Linux 5.7 (and 5.4.41, 4.19.123, 4.14.181) address translation filled in a UDP checksum of a VXLAN packet that has none, wrongly; receivers drop it. Services are then unreachable from the nodes, or slow by whole seconds. Told where a VXLAN link of such a kernel leaves checksums to the hardware.',
});

/** See the file's comment. */
export const offloadCheck: NodeCheck = {
  rules: [offload],
  look(view): readonly Finding[] {
    if (!hasFault(view.ports.machine.kernelRelease)) return [];
    return view.links
      .filter(({ kind, name }) => kind === 'vxlan' && leavesChecksums(view, name))
      .map(({ name }) =>
        found(offload, {
          subject: name,
          what: `Linux ${view.ports.machine.kernelRelease} translates packets of ${name} with wrong checksums`,
          consequence:
            'Connections to services that are served on other nodes hang, or take seconds to open.',
          remedy: `ethtool -K ${name} tx-checksum-ip-generic off, or a newer kernel`,
        }),
      );
  },
};

/**
 * Whether a kernel has the fault.
 *
 * @example hasFault('4.19.100-amd64') // true
 */
export function hasFault(release: string): boolean {
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
/** ETHTOOL_GTXCSUM */
const GET_TX_CHECKSUM = 0x16;

function leavesChecksums({ host }: NodeView, name: string): boolean {
  try {
    using fd = socket({ family: AF.INET, type: SOCK.DGRAM, netns: host.handle });
    const answer = ethtool(fd, name, encode(ethtoolValue, { command: GET_TX_CHECKSUM, data: 0 }));
    return decode(ethtoolValue, answer).data !== 0;
  } catch (error) {
    if (SysError.is(error, 'EOPNOTSUPP', 'ENODEV', 'EPERM')) return false;
    throw error;
  }
}
