/**
 * The plugin `dummy`: an interface in the container that is connected to nothing, for addresses that processes
 * in the container use among themselves or that others have routes to.
 */
import { definePlugin } from '@heddle/cni/plugin';
import { add } from './add.ts';
import { check } from './check.ts';
import { dummyConfig } from './config.ts';
import { del } from './del.ts';
import { gc } from './gc.ts';
import { status } from './status.ts';

/** The plugin; see the comment of this module. */
export const dummy = definePlugin({
  type: 'dummy',
  kind: 'main',
  about: 'an interface that is connected to nothing',
  config: dummyConfig,
  add,
  del,
  check,
  gc,
  status,
});
