/** Staged faults of chains, members and capabilities. */
import { bridged, installedAs, list } from './scene.ts';
import { one, type StagedCase } from './staged-case.ts';

const IPAM = { type: 'host-local', subnet: '10.1.0.0/16' };
const BRIDGE = { type: 'bridge', ipam: IPAM };
const PORTMAP = { type: 'portmap', capabilities: { portMappings: true } };
const FOUND = (type: string) => ({ [type]: { path: `/opt/cni/bin/${type}`, obstacles: [] } });
const READER = (...directories: string[]) => ({ runtime: 'containerd', directories, setting: 'bin_dir' });

/** One for each rule. */
export const CHAIN_CASES: readonly StagedCase[] = [
  { rule: 'chain/meta-first', bad: one(list(PORTMAP, BRIDGE)), at: ':1:', good: one(list(BRIDGE, PORTMAP)) },
  {
    rule: 'chain/second-interface',
    bad: one(list(BRIDGE, { type: 'macvlan', master: 'eth0' })),
    at: ':1:',
    good: one(list({ type: 'flannel' }, { type: 'cilium-cni', 'chaining-mode': 'flannel' })),
  },
  { rule: 'chain/ipam-as-plugin', bad: one(list(BRIDGE, IPAM)), at: ':1:', good: one(list(BRIDGE)) },
  {
    rule: 'chain/plugin-as-ipam',
    bad: one(list({ type: 'bridge', ipam: { ...IPAM, type: 'portmap' } })),
    at: ':1:',
    good: one(list({ type: 'bridge', ipam: { type: 'kube-ovn', server_socket: '/run/x', provider: 'a.b' } })),
  },
  {
    rule: 'chain/no-ipam',
    bad: one(list({ type: 'ptp' })),
    at: ':1:',
    good: one(list({ type: 'bridge', bridge: 'br0' })),
  },
  {
    rule: 'chain/misspelled-type',
    bad: one(list({ ...BRIDGE, type: 'brigde' })),
    at: ':1:',
    good: one(list({ ...BRIDGE, type: 'acme-fabric' })),
  },
  {
    rule: 'chain/plugin-not-installed',
    bad: one(list(BRIDGE), { installed: installedAs(FOUND('bridge')) }),
    at: ':1:',
    good: one(list(BRIDGE), { installed: installedAs({ ...FOUND('bridge'), ...FOUND('host-local') }) }),
  },
  {
    rule: 'chain/plugin-out-of-reach',
    bad: one(list({ type: 'bridge' }), { installed: installedAs(FOUND('bridge'), [READER('/own')]) }),
    at: ':1:',
    good: one(list({ type: 'bridge' }), {
      installed: installedAs(FOUND('bridge'), [READER('/own', '/opt/cni/bin')]),
    }),
  },
  {
    rule: 'chain/plugin-passed-over',
    bad: one(list({ type: 'bridge' }), {
      installed: installedAs({
        bridge: { path: '/b/bridge', obstacles: ['/a/bridge is a broken link (to /x)'] },
      }),
    }),
    at: ':1:',
    good: one(list({ type: 'bridge' }), { installed: installedAs(FOUND('bridge')) }),
  },
  {
    rule: 'chain/no-host-side',
    bad: one(list({ type: 'macvlan', master: 'eth0', ipam: IPAM }, PORTMAP)),
    at: ':1:',
    good: one(list({ type: 'macvlan', master: 'eth0', ipam: IPAM }, { type: 'tuning', mtu: 1400 })),
  },
  {
    rule: 'chain/ingress-policy-without-bridge',
    bad: one(list({ type: 'ptp', ipam: IPAM }, { type: 'firewall', ingressPolicy: 'isolated' })),
    at: ':1:',
    good: one(list({ type: 'ptp', ipam: IPAM }, { type: 'firewall', ingressPolicy: 'open' })),
  },
  {
    rule: 'chain/only-loopback',
    bad: {
      files: {
        '00-loopback.conf': { cniVersion: '1.0.0', name: 'lo', type: 'loopback' },
        '10-pods.conflist': list(BRIDGE),
      },
    },
    at: '00-loopback.conf:1:',
    good: {
      files: {
        '10-pods.conflist': list(BRIDGE),
        '99-loopback.conf': { cniVersion: '1.0.0', name: 'lo', type: 'loopback' },
      },
    },
  },
  {
    rule: 'chain/no-policy-engine',
    bad: one(list({ type: 'flannel', delegate: { isDefaultGateway: true } }, PORTMAP)),
    at: ':1:',
    good: one(list({ type: 'flannel' }, PORTMAP, { type: 'cilium-cni', 'chaining-mode': 'flannel' })),
  },
  {
    rule: 'schema/unknown-member',
    bad: one(list({ ...BRIDGE, isGatway: true })),
    at: ':1:',
    good: one(
      list({ ...BRIDGE, IsGateway: true, _note: 'x', 'example.org/x': 1, args: { cni: { labels: [] } } }),
    ),
  },
  {
    rule: 'schema/wrong-type',
    bad: one(list({ ...BRIDGE, mtu: '1500' })),
    at: ':1:',
    good: one(list({ type: 'aws-cni', mtu: '9001', vethPrefix: 'eni' })),
  },
  {
    rule: 'schema/invalid-value',
    bad: one(list({ ...BRIDGE, mtu: -1 })),
    at: ':1:',
    good: one(list({ ...BRIDGE, mtu: 0 })),
  },
  {
    rule: 'schema/missing-member',
    bad: one(list({ type: 'vlan', vlanId: 5, ipam: IPAM })),
    at: ':1:',
    good: one(list({ type: 'vlan', master: 'eth0', vlanId: 5, ipam: IPAM })),
  },
  {
    rule: 'capability/unknown',
    bad: one(list(BRIDGE, { type: 'portmap', capabilities: { portmappings: true } })),
    at: ':1:',
    good: one(list(BRIDGE, { type: 'acme-ports', capabilities: { 'acme.example/ports': true } })),
  },
  {
    rule: 'capability/not-taken',
    bad: one(list({ ...BRIDGE, capabilities: { portMappings: true } })),
    at: ':1:',
    good: one(list({ ...BRIDGE, capabilities: { ips: true, mac: true } })),
  },
  {
    rule: 'capability/not-declared',
    bad: one(list(BRIDGE, { type: 'portmap', capabilities: { portMappings: false } })),
    at: ':1:',
    good: one(list(BRIDGE, { type: 'bandwidth', ingressRate: 8_000_000, ingressBurst: 800_000 })),
  },
  {
    rule: 'capability/not-sent-by-runtime',
    bad: one(list({ ...BRIDGE, capabilities: { mac: true } }), { options: { against: 'containerd' } }),
    at: ':1:',
    good: one(list(BRIDGE, PORTMAP), { options: { against: 'containerd' } }),
  },
  {
    rule: 'capability/no-port-mapping',
    bad: one(list({ type: 'flannel' })),
    at: ':1:',
    good: one(list({ type: 'flannel' }, PORTMAP)),
  },
  {
    rule: 'bandwidth/half-a-limit',
    bad: one(list(BRIDGE, { type: 'bandwidth', ingressRate: 8_000_000 })),
    at: ':1:',
    good: one(list(BRIDGE, { type: 'bandwidth', ingressRate: 8_000_000, ingressBurst: 800_000 })),
  },
  {
    rule: 'bandwidth/burst-too-large',
    bad: one(list(BRIDGE, { type: 'bandwidth', ingressRate: 8e9, ingressBurst: 34_359_738_360 })),
    at: ':1:',
    good: one(list(BRIDGE, { type: 'bandwidth', ingressRate: 4e10, ingressBurst: 34_359_738_359 })),
  },
  {
    rule: 'bandwidth/units',
    bad: one(list(BRIDGE, { type: 'bandwidth', egressRate: 1000, egressBurst: 12_000 })),
    at: ':1:',
    good: one(list(BRIDGE, { type: 'bandwidth', egressRate: 1_000_000, egressBurst: 120_000 })),
  },
  {
    rule: 'bandwidth/burst-size',
    bad: one(list(BRIDGE, { type: 'bandwidth', ingressRate: 10_000_000, ingressBurst: 2_147_483_648 })),
    at: ':1:',
    good: one(list(BRIDGE, { type: 'bandwidth', ingressRate: 10_000_000, ingressBurst: 10_000_000 })),
  },
  {
    rule: 'misuse/exclusive-members',
    bad: one(list({ ...BRIDGE, hairpinMode: true, promiscMode: true })),
    at: ':1:',
    good: one(list({ ...BRIDGE, hairpinMode: true, promiscMode: false })),
  },
  {
    rule: 'misuse/log-to-stdout',
    bad: one(list({ type: 'aws-cni', pluginLogFile: 'stdout' })),
    at: ':1:',
    good: one(list({ type: 'aws-cni', pluginLogFile: 'stderr', pluginLogLevel: 'DEBUG' })),
  },
  {
    rule: 'misuse/portmap-conditions',
    bad: one(list(BRIDGE, { ...PORTMAP, backend: 'nftables', conditionsV4: ['!', '-d', '192.0.2.9'] })),
    at: ':1:',
    good: one(list(BRIDGE, { ...PORTMAP, conditionsV4: ['ip', 'daddr', '!=', '192.0.2.9'] })),
  },
  {
    rule: 'misuse/sysctl-outside-network',
    bad: one(list(BRIDGE, { type: 'tuning', sysctl: { 'net.ipv4.conf/../../kernel/hostname': 'x' } })),
    at: ':1:',
    good: one(
      list(BRIDGE, {
        type: 'tuning',
        sysctl: { 'net/ipv4/conf/eth0.1/arp_filter': '1', 'net.core.somaxconn': '5' },
      }),
    ),
  },
  {
    rule: 'misuse/sysctl-twice',
    bad: one(
      list(BRIDGE, { type: 'tuning', sysctl: { 'net.core.somaxconn': '5', 'net/core/somaxconn': '6' } }),
    ),
    at: ':1:',
    good: one(
      list(BRIDGE, { type: 'tuning', sysctl: { 'net.core.somaxconn': '5', 'net/core/optmem_max': '6' } }),
    ),
  },
  {
    rule: 'misuse/host-device-without-device',
    bad: one(list({ type: 'host-device' })),
    at: ':1:',
    good: one(list({ type: 'host-device', capabilities: { deviceID: true } })),
  },
  {
    rule: 'misuse/sbr-gateways',
    bad: one(list(BRIDGE, { type: 'sbr', gateways: ['10.1.0.1', '10.1.0.2'] })),
    at: ':1:',
    good: one(list(BRIDGE, { type: 'sbr', gateways: ['10.1.0.1', '2001:db8::1'] })),
  },
  {
    rule: 'misuse/dhcp-on-ipvlan',
    bad: one(list({ type: 'ipvlan', master: 'eth0', ipam: { type: 'dhcp' } })),
    at: ':1:',
    good: one(list({ type: 'macvlan', master: 'eth0', ipam: { type: 'dhcp' } })),
  },
  {
    rule: 'misuse/masquerade-without-ipam',
    bad: one(list({ type: 'bridge', ipMasq: true })),
    at: ':1:',
    good: one(list({ type: 'bridge', ipMasq: false })),
  },
  {
    rule: 'misuse/vlan-and-trunk',
    bad: one(bridged('10.1.0.0/16', { vlanTrunk: [{ id: 101 }, { minID: 100, maxID: 200 }] })),
    at: ':1:',
    good: one(bridged('10.1.0.0/16', { vlan: 5, vlanTrunk: [{ id: 99 }, { minID: 100, maxID: 200 }] })),
  },
  {
    rule: 'misuse/macvlan-passthru',
    bad: one(list({ type: 'macvlan', master: 'eth0', mode: 'passthru', ipam: IPAM })),
    at: ':1:',
    good: one(list({ type: 'macvlan', master: 'eth0', mode: 'private', ipam: IPAM })),
  },
];
