/** What each runtime passes for capabilities, by its own code. */
import type { RuntimeName } from '../model/selection.ts';

/** See the file's comment. Multus passes to its delegates what it finds in annotations. */
export const SENT_BY: Readonly<Record<RuntimeName, readonly string[]>> = {
  containerd: ['portMappings', 'bandwidth', 'dns', 'io.kubernetes.cri.pod-annotations', 'cgroupPath'],
  crio: [
    'portMappings',
    'bandwidth',
    'io.kubernetes.cri.pod-annotations',
    'ipRanges',
    'mac',
    'ips',
    'infinibandGUID',
    'cgroupPath',
    'dns',
    'aliases',
  ],
  podman: ['portMappings', 'ips', 'aliases'],
};
