/** The chain of a usual node, with every plugin that the agent serves for a pod. */
export const FULL_CHAIN = JSON.stringify({
  cniVersion: '1.1.0',
  name: 'full',
  plugins: [
    {
      ...{ type: 'bridge', bridge: 'hdfull0', isGateway: true, ipMasq: true },
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.66.0.0/21' }], [{ subnet: 'fd00:66::/64' }]] },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
    { type: 'firewall', backend: 'nftables' },
    {
      ...{ type: 'bandwidth', ingressRate: 100_000_000, ingressBurst: 10_000_000 },
      ...{ egressRate: 100_000_000, egressBurst: 10_000_000 },
    },
    { type: 'tuning', sysctl: { 'net.ipv4.conf.IFNAME.arp_filter': '1' } },
  ],
});
