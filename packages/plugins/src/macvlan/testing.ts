/** The plugin as the tests of stacked links see it. */
import type { Subject } from '../stacked/testing/scene.ts';
import { macvlan } from './index.ts';

/** The plugin with its default mode. */
export const subject: Subject = {
  plugin: macvlan,
  config: { type: 'macvlan' },
  shows: { mode: 'bridge' },
  linkOptions: ['mode', 'bridge'],
};
