/**
 * The plugin `bridge`: puts containers on a bridge of the host by veth pairs. With address management the host
 * can be their gateway and masquerade for them; without it the network is a layer 2 one.
 */
import { definePlugin } from '@heddle/cni/plugin';
import { add } from './add.ts';
import { check } from './check.ts';
import { bridgeConfig } from './config.ts';
import { del } from './del.ts';
import { gc } from './gc.ts';
import { status } from './status.ts';

/** The plugin; see the comment of this module. */
export const bridge = definePlugin({
  type: 'bridge',
  kind: 'main',
  about: 'a veth pair between the container and a bridge on the host',
  config: bridgeConfig,
  capabilities: ['mac'],
  argKeys: ['MAC'],
  add,
  del,
  check,
  gc,
  status,
});
