/** What the reference's ipvlan does, ours does. */

import { testAgainstReference } from '../stacked/testing/reference.ts';
import { DUAL } from '../stacked/testing/scene.ts';
import { subject } from './testing.ts';

const prevResult = { cniVersion: '1.0.0', interfaces: [{ name: 'hd0' }], ips: DUAL.ips };

testAgainstReference(
  subject,
  [
    ...['', 'l2', 'l3', 'l3s'].map((mode) => [`mode "${mode}"`, { mode }] as const),
    ['an MTU', { mtu: 1400 }],
    [
      'in a chain, with CNI_ARGS that make no sense',
      { master: undefined, ipam: undefined, prevResult },
      'FOO',
    ],
    ['in a chain, with addresses of its own', { master: undefined, prevResult: { ...prevResult, ips: [] } }],
  ],
  [
    ['an unknown mode', { mode: 'l4' }],
    ['a missing master', { master: 'nope0' }],
    ['no master and no default route', { master: undefined }],
    ['no address management', { ipam: undefined }],
    [
      'a chain that made two interfaces',
      { master: undefined, prevResult: { ...prevResult, interfaces: [{ name: 'hd0' }, { name: 'hd9' }] } },
    ],
  ],
);
