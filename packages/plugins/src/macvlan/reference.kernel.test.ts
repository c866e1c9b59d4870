/** What the reference's macvlan does, ours does. */
import { testAgainstReference } from '../stacked/testing/reference.ts';
import { subject } from './testing.ts';

const FIXED = '02:00:00:00:00:07';
const OTHER = '02:00:00:00:00:08';

testAgainstReference(
  subject,
  [
    ...['', 'bridge', 'private', 'vepa', 'passthru'].map((mode) => [`mode "${mode}"`, { mode }] as const),
    ['an MTU', { mtu: 1400 }],
    ['no addresses', { ipam: undefined }],
    ['name resolution', { dns: { nameservers: ['192.0.2.1'], search: ['example.net'] } }],
    ['a hardware address', { mac: FIXED }],
    ['one by CNI_ARGS', { mac: OTHER }, `IgnoreUnknown=1;K8S_POD_NAME=p;MAC=${FIXED}`],
    ['one by the runtime', { mac: OTHER, runtimeConfig: { mac: FIXED } }, `IgnoreUnknown=1;MAC=${OTHER}`],
  ],
  [
    ['an unknown mode', { mode: 'source' }],
    ['a missing master', { master: 'nope0' }],
    ['no master and no default route', { master: undefined }],
    ['an MTU beyond the master', { mtu: 1501 }],
    ['a negative MTU', { mtu: -1 }],
    ['no addresses at version 0.2.0', { ipam: undefined, cniVersion: '0.2.0' }],
    ['an unknown key of CNI_ARGS', {}, 'FOO=1'],
    ['a bad hardware address', { mac: 'xx' }],
  ],
);
