/** CHECK finds what is not as ADD left it. */

import { testDrift } from '../stacked/testing/drift.ts';
import { MASTER } from '../stacked/testing/scene.ts';
import { subject } from './testing.ts';

testDrift(subject, [
  [
    'another hardware address',
    ({ inside }) => inside('link', 'set', 'eth0', 'address', '02:00:00:00:00:99'),
    /eth0 should have the hardware address .*, but has 02:00:00:00:00:99/,
  ],
  [
    'another VLAN',
    ({ scene, container, inside }) => {
      inside('link', 'delete', 'eth0');
      const link = ['link', MASTER, 'name', 'eth0', 'netns', container.path];
      scene.lab.host.run('ip', 'link', 'add', ...link, 'type', 'vlan', 'id', '8');
    },
    /link eth0 should be in VLAN 7, but is in 8/,
  ],
]);
