/**
 * sbr: routes by source. Packets from an address of a container leave by the interface that has it, also when the
 * container has several interfaces. A chained plugin. All that it makes is in the container's namespace, so nothing is
 * left for garbage collection.
 */
import { definePlugin } from '@heddle/cni/plugin';
import { add } from './add.ts';
import { check } from './check.ts';
import { gatewaysOf, sbrConfig } from './config.ts';
import { del } from './del.ts';

/** The sbr plugin. */
export const sbr = definePlugin({
  type: 'sbr',
  kind: 'meta',
  about: "routes packets by the container's address that they come from",
  config: sbrConfig,
  add,
  del,
  check,
  gc: async () => {},
  status: async ({ config }) => {
    gatewaysOf(config);
  },
});
