/** The networks that `make bench` attaches to. */
import { type NetworkConfigList, parseNetworkList } from '@heddle/cni';

const ipam = { type: 'host-local', ranges: [[{ subnet: '10.77.0.0/16' }]] };
const bridge = { type: 'bridge', bridge: 'hdbench0', isGateway: true, ipam };

/** A bridge, and address management. */
export const BRIDGE = network('bridge + host-local', bridge);

/** A pair of interfaces that the node routes, with addresses of the cluster's blocks. */
export const ROUTED = network('heddle', { type: 'heddle' });

/** The chain of an ordinary node, five plugins. */
export const FULL_CHAIN = network(
  'full chain',
  { ...bridge, ipMasq: true },
  { type: 'portmap', capabilities: { portMappings: true } },
  { type: 'firewall' },
  { type: 'bandwidth', ingressRate: 1e8, ingressBurst: 1e7, egressRate: 1e8, egressBurst: 1e7 },
  { type: 'tuning', mtu: 1400 },
);

/** Both families at once. */
const DUAL_STACK = network('bridge + host-local, dual stack', {
  ...bridge,
  ipam: { type: 'host-local', ranges: [[{ subnet: '10.77.0.0/16' }], [{ subnet: 'fd77::/64' }]] },
});

/** Networks for what the full chain has not. */
export const OTHERS: readonly NetworkConfigList[] = [
  DUAL_STACK,
  network('bridge + static', {
    ...bridge,
    ipam: { type: 'static', addresses: [{ address: '10.77.0.9/16', gateway: '10.77.0.1' }] },
  }),
  network('ptp + host-local', { type: 'ptp', ipam }),
  network('bridge + host-local, sbr', bridge, { type: 'sbr' }),
];

function network(name: string, ...plugins: readonly object[]): NetworkConfigList {
  const list = { cniVersion: '1.0.0', name: name.replaceAll(/[^a-z0-9]+/g, '-'), plugins };
  return parseNetworkList(Buffer.from(JSON.stringify(list)));
}
