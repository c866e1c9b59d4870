/**
 * The plugin `tap`: a tap device in the container, whose other end is a process that opens it, such as a virtual
 * machine's.
 */
import { definePlugin } from '@heddle/cni/plugin';
import { add } from './add.ts';
import { check } from './check.ts';
import { tapConfig } from './config.ts';
import { del } from './del.ts';
import { gc } from './gc.ts';
import { status } from './status.ts';

/** The plugin; see the comment of this module. */
export const tap = definePlugin({
  type: 'tap',
  kind: 'main',
  about: 'a tap device in the container, for a virtual machine',
  config: tapConfig,
  capabilities: ['mac'],
  argKeys: ['MAC'],
  add,
  del,
  check,
  gc,
  status,
});
