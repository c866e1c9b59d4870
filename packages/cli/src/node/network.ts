/** The network of a cluster, as a configuration for runtimes. */

/** Its name. */
export const CLUSTER_NETWORK = 'heddle';

/** The configuration: addresses and routes by the node's agent, published ports, shaped traffic, an open firewall. */
export function clusterNetwork(): string {
  const list = {
    cniVersion: '1.0.0',
    cniVersions: ['1.0.0', '1.1.0'],
    name: CLUSTER_NETWORK,
    plugins: [
      { type: 'heddle' },
      { type: 'portmap', capabilities: { portMappings: true } },
      { type: 'bandwidth', capabilities: { bandwidth: true } },
      { type: 'firewall' },
    ],
  };
  return `${JSON.stringify(list, null, 2)}\n`;
}
