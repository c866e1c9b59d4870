/**
 * tuning: sets kernel parameters of a container's network and changes its interface: hardware address, promiscuous
 * mode, MTU, multicast reception and the length of its queue. A chained plugin. What it changes about the interface it
 * changes back, for the interface may outlive the container.
 */
import { definePlugin, type Plugin } from '@heddle/cni/plugin';
import { add } from './add.ts';
import { check } from './check.ts';
import { DEFAULT_DATA_DIR, tuningConfig } from './config.ts';
import { del } from './del.ts';
import { gc } from './gc.ts';
import type { Places } from './places.ts';
import { status } from './status.ts';

export type { Places } from './places.ts';

/**
 * The plugin, with other places than usual for its files.
 *
 * @example const plugin = tuningAt({ dataDir: '/tmp/tuning', allowlist: '/tmp/allowlist.conf', cacheDir: '/tmp/cni' });
 */
export function tuningAt(places: Places): Plugin {
  return definePlugin({
    type: 'tuning',
    kind: 'meta',
    about: "sets kernel parameters of the container's network, and changes its interface",
    config: tuningConfig,
    capabilities: ['mac'],
    argKeys: ['MAC'],
    add: (call) => add(call, places),
    del: (call) => del(call, places),
    check,
    gc: (call) => gc(call, places),
    status: (call) => status(call, places),
  });
}

/** The plugin. */
export const tuning = tuningAt({
  dataDir: DEFAULT_DATA_DIR,
  allowlist: '/etc/cni/tuning/allowlist.conf',
  cacheDir: '/var/lib/cni',
});
