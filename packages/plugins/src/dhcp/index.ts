/**
 * dhcp: an address from a DHCP server on the container's network. A daemon gets the lease, keeps it for as long as
 * the container lives, and gives it back; the plugin only asks it to.
 *
 * The daemon is Heddle's own. Its socket is where the reference's is, but not its language: Go's RPC is spoken by Go
 * programs only, so the two plugins and the two daemons cannot be mixed, and each says so.
 */
import { resolve } from 'node:path';
import type { Result } from '@heddle/cni';
import { type AddCall, definePlugin, type Plugin } from '@heddle/cni/plugin';
import { DEFAULT_STATE_DIR } from '@heddle/dhcp';
import { check } from './check.ts';
import { type DhcpConfig, dhcpConfig, providedOptions, requestedOptions } from './config.ts';
import { ask, giveBack, greet, leaseOwners, ownerOf, type Places } from './leases.ts';
import { leaseResult } from './result.ts';

export type { Places } from './leases.ts';

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
    add: (call) => add(call, places),
    check,
    async del(call) {
      await call.teardown.step('give the lease back', () => giveBack(call, ownerOf(call), places));
    },
    async gc(call) {
      const stale = await call.stale(
        () => leaseOwners(call, places),
        ({ containerID, ifName }) => ({ containerID, ifName }),
      );
      for (const owner of stale) {
        await call.teardown.step(`give the lease of ${owner.containerID} back`, () =>
          giveBack(call, owner, places),
        );
      }
    },
    status: greet,
  });
}

/** The plugin. */
export const dhcp = dhcpAt({ stateDir: DEFAULT_STATE_DIR });

async function add(call: AddCall<DhcpConfig>, places: Places): Promise<Result> {
  const { config, netnsPath, cniArgs } = call;
  const owner = ownerOf(call);
  call.undo.push('give the lease back', () => giveBack(call, owner, places));
  const lease = await ask(call, {
    ask: 'acquire',
    owner,
    // The daemon has another working directory.
    netns: resolve(netnsPath),
    provide: providedOptions(config, cniArgs),
    parameters: requestedOptions(config),
  });
  return leaseResult(lease, config.ipam?.priority ?? 0);
}
