/** The plugins, by the `type` that configurations name them with. */
import type { Plugin } from '@heddle/cni/plugin';
import { bridge } from './bridge/index.ts';
import { hostLocal } from './host-local/index.ts';
import { loopback } from './loopback/index.ts';
import { portmap } from './portmap/index.ts';
import { ptp } from './ptp/index.ts';
import { staticPlugin } from './static/index.ts';

/** Every plugin that is built in. */
export const PLUGINS: ReadonlyMap<string, Plugin> = new Map(
  [bridge, hostLocal, loopback, portmap, ptp, staticPlugin].map((plugin) => [plugin.type, plugin]),
);
