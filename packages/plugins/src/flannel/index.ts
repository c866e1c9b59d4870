/**
 * The plugin `flannel`, for nodes of a Flannel cluster: another plugin, bridge by default, makes the interface, with
 * addresses of the subnet that Flannel's daemon tells in a file. What connects the nodes is the daemon's business.
 */
import { definePlugin, type Plugin } from '@heddle/cni/plugin';
import { add } from './add.ts';
import { check } from './check.ts';
import { flannelConfig, USUAL_PLACES } from './config.ts';
import { del } from './del.ts';
import { gc } from './gc.ts';
import type { Places } from './places.ts';
import { status } from './status.ts';

export type { Places } from './places.ts';

/**
 * The plugin, with other places than usual for its files.
 *
 * @example const plugin = flannelAt({ subnetFile: '/tmp/subnet.env', dataDir: '/tmp/flannel' });
 */
export function flannelAt(places: Places): Plugin {
  return definePlugin({
    type: 'flannel',
    kind: 'meta',
    about: "has another plugin make the interface, in the node's subnet of a Flannel cluster",
    config: flannelConfig,
    add: (call) => add(call, places),
    del: (call) => del(call, places),
    check: (call) => check(call, places),
    gc: (call) => gc(call, places),
    status: (call) => status(call, places),
  });
}

/** The plugin; see the comment of this module. */
export const flannel = flannelAt(USUAL_PLACES);
