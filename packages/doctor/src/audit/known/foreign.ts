/**
 * Well-known plugins of others. Members are those that their releases of the last years decode; one that is not here
 * may be newer, so it is told of only when it looks like a misspelling.
 */
import { ATTACHED_PLUGINS } from './attached.ts';
import { CLUSTER_PLUGINS } from './cluster.ts';
import type { KnownPlugin } from './known-plugin.ts';

/** Every plugin of others that is known here. */
export const FOREIGN_PLUGINS: readonly KnownPlugin[] = [...CLUSTER_PLUGINS, ...ATTACHED_PLUGINS];
