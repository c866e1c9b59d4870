/** The plugin as the tests of stacked links see it. */
import type { Subject } from '../stacked/testing/scene.ts';
import { vlan } from './index.ts';

/** The plugin with some VLAN. */
export const subject: Subject = {
  plugin: vlan,
  config: { type: 'vlan', vlanId: 7 },
  shows: { id: 7, protocol: '802.1Q' },
  linkOptions: ['id', '7'],
  neighbourLink: ['type', 'vlan', 'id', '7'],
};
