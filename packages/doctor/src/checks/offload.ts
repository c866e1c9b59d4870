/** Checksums of tunnelled packets that older kernels get wrong. */
import { hasVxlanChecksumFault, leavesChecksums } from '@heddle/dataplane';
import type { Finding } from '../finding.ts';
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
    if (!hasVxlanChecksumFault(view.ports.machine.kernelRelease)) return [];
    return view.links
      .filter(({ kind, name }) => kind === 'vxlan' && leavesChecksums(view.host, name))
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
