/** What the reference's vlan does, ours does. */
import { testAgainstReference } from '../stacked/testing/reference.ts';
import { subject } from './testing.ts';

testAgainstReference(
  subject,
  [
    ['VLAN 4094', { vlanId: 4094 }],
    ['VLAN 0', { vlanId: undefined }],
    ['an MTU', { mtu: 1400 }],
  ],
  [
    ['VLAN 4095', { vlanId: 4095 }],
    ['VLAN -1', { vlanId: -1 }],
    ['a missing master', { master: 'nope0' }],
    ['no master', { master: undefined }],
    ['an MTU beyond the master', { mtu: 1501 }],
    ['a negative MTU', { mtu: -1 }],
  ],
);
