/**
 * dhcp: an address from a DHCP server on the container's network. A daemon gets the lease, keeps it for as long as
 * the container lives, and gives it back; the plugin only asks it to.
 *
 * The daemon is Heddle's own. Its socket is where the reference's is, but not its language: Go's RPC is spoken by Go
 * programs only, so the two plugins and the two daemons cannot be mixed, and each says so.
 */
import { definePlugin, type Plugin } from '@heddle/cni/plugin';
import { DEFAULT_STATE_DIR } from '@heddle/dhcp/places';
import { dhcpConfig } from './config.ts';
import type { Places } from './places.ts';

export type { Places } from './places.ts';

/**
 * The plugin, with other places than usual for what daemons leave.
 *
 * @example const plugin = dhcpAt({ stateDir: '/tmp/leases' });
 */
export function dhcpAt(places: Places): Plugin {
  return definePlugin({
    type: 'dhcp',
    kind: 'ipam',
    about: 'gets addresses from a DHCP server, through a daemon that keeps the leases',
    config: dhcpConfig,
    add: async (call) => (await verbs()).add(call, places),
    check: async (call) => (await verbs()).check(call),
    del: async (call) => (await verbs()).del(call, places),
    gc: async (call) => (await verbs()).gc(call, places),
    status: async (call) => (await verbs()).status(call),
  });
}

/** The plugin. */
export const dhcp = dhcpAt({ stateDir: DEFAULT_STATE_DIR });

/** Loaded when there is something to do: the other plugins of the same program start faster without a DHCP client. */
function verbs() {
  return import('./verbs.ts');
}
