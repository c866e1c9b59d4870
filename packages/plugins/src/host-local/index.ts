/**
 * host-local: gives out addresses of configured ranges and keeps who holds what in files on the node, in the
 * reference's layout and bytes, so that either can work on the other's directory.
 */
import { definePlugin, type Plugin } from '@heddle/cni/plugin';
import { DEFAULT_DATA_DIR, release, releaseStale } from '@heddle/ipam';
import { add } from './add.ts';
import { check } from './check.ts';
import { hostLocalConfig } from './config.ts';
import { RESULT_CACHE } from './orphans.ts';
import { type Places, storeOf } from './places.ts';
import { status } from './status.ts';

export type { Places } from './places.ts';

/**
 * The plugin, with other places than usual for its files.
 *
 * @example const plugin = hostLocalAt({ dataDir: '/tmp/networks', cacheDir: '/tmp/cni' });
 */
export function hostLocalAt(places: Places): Plugin {
  return definePlugin({
    type: 'host-local',
    kind: 'ipam',
    about: 'gives out addresses of configured ranges and remembers them in files on this node',
    config: hostLocalConfig,
    capabilities: ['ipRanges', 'ips'],
    argKeys: ['IP'],
    add: (call) => add(call, places),
    check: (call) => check(call, places),
    status: (call) => status(call, places),
    async del(call) {
      // Neither ranges nor anything else of the configuration is needed: whoever owns a file, owns it.
      const owner = { containerID: call.containerID, ifName: call.ifName };
      await call.teardown.step('release addresses', () => release(storeOf(call, places), owner));
    },
    async gc(call) {
      const store = storeOf(call, places);
      const stale = await call.stale(
        async () => store.list(),
        ({ owner }) => owner,
      );
      await call.teardown.step('release addresses', () => releaseStale(store, stale));
    },
  });
}

/** Where its files are unless a configuration says otherwise. */
export const HOST_LOCAL_PLACES: Places = { dataDir: DEFAULT_DATA_DIR, cacheDir: RESULT_CACHE };

/** The plugin. */
export const hostLocal = hostLocalAt(HOST_LOCAL_PLACES);
