/**
 * The plugin `ptp`: joins the container and the host by a veth pair, without a bridge. The host is the router of
 * every container, and has the gateway's addresses on each pair.
 */
import { definePlugin } from '@heddle/cni/plugin';
import { add } from './add.ts';
import { check } from './check.ts';
import { ptpConfig } from './config.ts';
import { del } from './del.ts';
import { gc } from './gc.ts';
import { status } from './status.ts';

/** The plugin; see the comment of this module. */
export const ptp = definePlugin({
  type: 'ptp',
  kind: 'main',
  about: 'a veth pair between the container and the host, which routes',
  config: ptpConfig,
  add,
  del,
  check,
  gc,
  status,
});
