/** The plugin as the tests of stacked links see it. */
import type { Subject } from '../stacked/testing/scene.ts';
import { ipvlan } from './index.ts';

/** The plugin with its default mode. */
export const subject: Subject = {
  plugin: ipvlan,
  config: { type: 'ipvlan' },
  shows: { mode: 'l2' },
  linkOptions: ['mode', 'l2'],
};
