/** Every plugin type that is known, by its name: the reference suite's, flannel, and those of others. */

import type { Plugin } from '@heddle/cni/plugin';
import { PLUGINS } from '@heddle/plugins';
import type { GenericSchema } from 'valibot';
import { FOREIGN_PLUGINS } from './foreign.ts';
import type { KnownPlugin } from './known-plugin.ts';

/** The known plugins by type. */
export const KNOWN_PLUGINS: ReadonlyMap<string, KnownPlugin> = new Map(
  [...[...PLUGINS.values()].map(referencePlugin), ...FOREIGN_PLUGINS].map((plugin) => [plugin.type, plugin]),
);

/** The schema of a type of the reference suite. */
export function schemaOf(type: string): GenericSchema | undefined {
  return PLUGINS.get(type)?.config;
}

/** Whether a type is one of the reference suite, flannel included. */
export function isReference(type: string): boolean {
  return PLUGINS.has(type);
}

function referencePlugin({ type, kind, capabilities = [], versions }: Plugin): KnownPlugin {
  const [since] = versions;
  return {
    ...{ type, role: kind, capabilities, addresses: 'delegate' as const },
    vendor: type === 'flannel' ? 'Flannel' : 'the reference suite',
    // It makes nothing itself, but what it starts does.
    ...(type === 'flannel' && { role: 'main' as const, isCluster: true, addresses: 'filled' as const }),
    ...(type === 'portmap' && { mapsPorts: true }),
    ...(since !== undefined && since !== '0.1.0' && { since }),
  };
}
