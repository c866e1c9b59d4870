/** Staged faults of the contract, versions, and who writes what. */
import { bridged, installedAs, list } from './scene.ts';
import { one, type StagedCase } from './staged-case.ts';

const BRIDGE = { type: 'bridge', ipam: { type: 'host-local', subnet: '10.1.0.0/16' } };
const SINGLE = { cniVersion: '1.0.0', name: 'pods', ...BRIDGE };
const PORTMAP = { type: 'portmap', capabilities: { portMappings: true } };

/** One for each rule. */
export const CONTRACT_CASES: readonly StagedCase[] = [
  {
    rule: 'contract/list-in-conf',
    bad: one(list(BRIDGE), {}, '10-pods.conf'),
    at: '10-pods.conf:1:',
    good: one(SINGLE, {}, '10-pods.conf'),
  },
  {
    rule: 'contract/plugin-in-conflist',
    bad: one(SINGLE),
    at: '10-pods.conflist:1:',
    good: one(list(SINGLE)),
  },
  {
    rule: 'contract/no-plugins',
    bad: one({ cniVersion: '1.0.0', name: 'pods', Plugins: [BRIDGE] }),
    at: ':1:',
    good: {
      files: { '10-pods.conflist': { cniVersion: '1.0.0', name: 'pods' }, 'pods/50-bridge.conf': BRIDGE },
    },
  },
  {
    rule: 'contract/no-name',
    bad: one({ cniVersion: '1.0.0', Name: 'pods', plugins: [BRIDGE] }),
    at: ':1:23',
    good: one({ cniVersion: '1.0.0', Name: 'pods', ...BRIDGE }, {}, '10-pods.conf'),
  },
  {
    rule: 'contract/name-characters',
    bad: one({ ...bridged('10.1.0.0/16'), name: '../../tmp/x' }),
    at: ':1:',
    good: one({ ...bridged('10.1.0.0/16'), name: '0.Pods_of-x' }),
  },
  {
    rule: 'contract/no-type',
    bad: one(list({ ...BRIDGE, type: '/opt/cni/bin/bridge' })),
    at: ':1:',
    good: one(list(BRIDGE)),
  },
  {
    rule: 'contract/flag-value',
    bad: one({ ...list(BRIDGE), disableCheck: 'yes' }),
    at: ':1:',
    good: one({ ...list(BRIDGE), disableCheck: 'TRUE', disableGC: false }),
  },
  {
    rule: 'contract/capabilities-value',
    bad: one(list(BRIDGE, { type: 'portmap', capabilities: ['portMappings'] })),
    at: ':1:',
    good: one(list(BRIDGE, { type: 'portmap', capabilities: { portMappings: true, other: false } })),
  },
  {
    rule: 'contract/list-member',
    bad: one({ ...list(BRIDGE), isGateway: true }),
    at: ':1:',
    good: one({
      $schema: './conflist.json',
      ...list(BRIDGE),
      _comment: 'ours',
      nerdctlID: 'x',
      cniVersions: ['1.0.0'],
    }),
  },
  {
    rule: 'version/malformed',
    bad: one({ ...list(BRIDGE), cniVersion: 'v1.0.0' }),
    at: ':1:15',
    good: one({ ...list(BRIDGE), cniVersion: '0.4.0', cniVersions: ['0.4.0', '1.1.0', '9.0.0'] }),
  },
  {
    rule: 'version/unreleased',
    bad: one({ ...list(BRIDGE), cniVersion: '1.2.0' }),
    at: ':1:15',
    good: one({ ...list(BRIDGE), cniVersion: '1.1.0', cniVersions: ['1.2.0'] }),
  },
  {
    rule: 'version/missing',
    bad: one({ name: 'pods', plugins: [BRIDGE] }),
    at: ':1:1',
    good: one({ name: 'pods', cniVersions: ['1.0.0'], plugins: [BRIDGE] }),
  },
  {
    rule: 'version/older-than-plugin',
    bad: one({ ...list(BRIDGE, { type: 'firewall' }), cniVersion: '0.3.1' }),
    at: ':1:',
    good: one({ ...list(BRIDGE, { type: 'firewall' }), cniVersion: '0.4.0' }),
  },
  {
    rule: 'version/older-than-chains',
    bad: one({ ...list(BRIDGE, PORTMAP), cniVersion: '0.2.0' }),
    at: ':1:15',
    good: one({ ...list(BRIDGE, PORTMAP), cniVersion: '0.3.0' }),
  },
  {
    rule: 'version/unsupported-by-plugin',
    bad: one(list(BRIDGE), {
      installed: installedAs({
        bridge: { path: '/opt/cni/bin/bridge', obstacles: [], versions: ['0.3.1', '0.4.0'] },
        'host-local': { path: '/opt/cni/bin/host-local', obstacles: [], versions: ['0.4.0', '1.0.0'] },
      }),
    }),
    at: ':1:',
    good: one(list(BRIDGE), {
      installed: installedAs({
        bridge: { path: '/opt/cni/bin/bridge', obstacles: [], versions: ['0.4.0', '1.0.0'] },
        'host-local': { path: '/opt/cni/bin/host-local', obstacles: [] },
      }),
    }),
  },
  {
    rule: 'reserved/environment-member',
    bad: one(list({ ...BRIDGE, netns: '/run/netns/x' })),
    at: ':1:',
    good: one(
      list({ type: 'aws-cni', vethPrefix: 'eni' }, { type: 'egress-cni', ifName: 'v4if0', enabled: 'true' }),
    ),
  },
  {
    rule: 'reserved/runtime-member',
    bad: one(list({ ...BRIDGE, prevResult: { cniVersion: '1.0.0' } })),
    at: ':1:',
    good: one(list({ ...BRIDGE, args: { cni: { 'example.org/x': 1 } } })),
  },
  {
    rule: 'reserved/runtime-config',
    bad: one(list(BRIDGE, { ...PORTMAP, runtimeConfig: { portMappings: [] } })),
    at: ':1:',
    good: one(list(BRIDGE, { type: 'portmap', runtimeConfig: { portMappings: [] } })),
  },
  {
    rule: 'reserved/version-in-plugin',
    bad: one(list({ ...BRIDGE, cniVersion: '0.4.0' })),
    at: ':1:',
    good: one(list({ ...BRIDGE, cniVersion: '1.0.0' })),
  },
  {
    rule: 'selection/two-cluster-networks',
    bad: {
      files: {
        '05-old.conflist': { ...list({ type: 'flannel' }), name: 'cbr0' },
        '10-calico.conflist': {
          ...list({ type: 'calico', ipam: { type: 'calico-ipam' } }),
          name: 'k8s-pod-network',
        },
      },
    },
    at: '10-calico.conflist',
    good: {
      files: {
        '00-multus.conf': {
          cniVersion: '0.3.1',
          name: 'multus',
          type: 'multus',
          clusterNetwork: '10-calico',
        },
        '10-calico.conflist': {
          ...list({ type: 'calico', ipam: { type: 'calico-ipam' } }),
          name: 'k8s-pod-network',
        },
        '87-podman-bridge.conflist': { ...bridged('10.88.0.0/16'), name: 'podman' },
      },
    },
  },
  {
    rule: 'selection/duplicate-name',
    bad: { files: { '87-p.conflist': bridged('10.1.0.0/16'), '88-p.conflist': bridged('10.2.0.0/16') } },
    at: '88-p.conflist:1:',
    good: {
      files: {
        '87-p.conflist': bridged('10.1.0.0/16'),
        '88-p.conflist': { ...bridged('10.2.0.0/16'), name: 'Pods' },
      },
    },
  },
  {
    rule: 'selection/no-network',
    bad: { files: { '10-a.conf': '{', '20-b.conflist': '{}' } },
    at: '/etc/cni/net.d',
    good: { files: { '10-a.conf': SINGLE, 'whereabouts.d/whereabouts.conf': { datastore: 'kubernetes' } } },
  },
  {
    rule: 'selection/unseen-by-podman',
    bad: one(SINGLE, { options: { against: 'podman' } }, '10-pods.conf'),
    at: '10-pods.conf',
    good: one(list(BRIDGE), { options: { against: 'podman' } }),
  },
  {
    rule: 'selection/which-file',
    bad: { files: { '10-a.conf': SINGLE, '20-b.conflist': { ...bridged('10.2.0.0/16'), name: 'b' } } },
    at: '/etc/cni/net.d',
    good: { files: { '10-a.conf': SINGLE, kubeconfig: 'apiVersion: v1' } },
  },
];
