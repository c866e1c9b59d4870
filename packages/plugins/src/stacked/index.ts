/**
 * What the plugins `macvlan`, `ipvlan` and `vlan` have in common: each gives the container a link that sits on
 * another one, its master, and differs by the kind of that link.
 */
import { definePlugin, type Plugin, type PluginDefinition } from '@heddle/cni/plugin';
import { addStacked } from './add.ts';
import { checkStacked } from './check.ts';
import type { StackedConfig } from './config.ts';
import { delStacked } from './del.ts';
import { gcStacked } from './gc.ts';
import type { StackedKind } from './kind.ts';
import { statusOfStacked } from './status.ts';

export { hasIpam, type StackedConfig, stackedEntries } from './config.ts';
export type { StackedKind } from './kind.ts';

/** The plugin for a kind of link; it is named like the kind. */
export function stackedPlugin<C extends StackedConfig>(
  kind: StackedKind<C>,
  declared: Pick<PluginDefinition<C>, 'about' | 'config' | 'capabilities' | 'argKeys'>,
): Plugin {
  return definePlugin<C>({
    ...declared,
    type: kind.kind,
    kind: 'main',
    add: (call) => addStacked(call, kind),
    del: (call) => delStacked(call, kind),
    check: (call) => checkStacked(call, kind),
    gc: gcStacked,
    status: (call) => statusOfStacked(call, kind),
  });
}
