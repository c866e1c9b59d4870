/** What makes a plugin: its declared configuration and its verbs. */
import type * as v from 'valibot';
import type { Result } from '../result.ts';
import { CNI_VERSIONS, type CniVersion } from '../versions.ts';
import type { AddCall, CheckCall, DelCall, GcCall, StatusCall } from './calls.ts';

/** The declaration of a plugin; see {@link definePlugin}. */
export interface PluginDefinition<C> {
  /** The `type` in configurations and the name of the binary, such as `bridge`. */
  readonly type: string;
  /** A main plugin makes an interface, an IPAM plugin gives addresses, a meta plugin changes what others made. */
  readonly kind: 'main' | 'ipam' | 'meta';
  /** One line for people. */
  readonly about: string;
  /** The versions that it speaks; all of them unless told otherwise. */
  readonly versions?: readonly CniVersion[];
  /** The members of the configuration that it reads, as a valibot schema. */
  readonly config: v.GenericSchema<unknown, C>;
  /** The capabilities that it understands in `runtimeConfig`. */
  readonly capabilities?: readonly string[];
  /**
   * The keys of CNI_ARGS that it understands. When declared, CNI_ARGS are parsed strictly on ADD, CHECK and
   * DEL: an unknown key is an error unless `IgnoreUnknown` is set. Otherwise they are not looked at.
   */
  readonly argKeys?: readonly string[];
  add(call: AddCall<C>): Promise<Result>;
  del(call: DelCall<C>): Promise<void>;
  check(call: CheckCall<C>): Promise<void>;
  gc(call: GcCall<C>): Promise<void>;
  status(call: StatusCall<C>): Promise<void>;
}

/** A plugin, ready to be served. */
export interface Plugin extends Omit<PluginDefinition<unknown>, 'config' | 'versions'> {
  readonly versions: readonly CniVersion[];
  readonly config: v.GenericSchema<unknown, unknown>;
}

/**
 * Makes a plugin of its declaration.
 *
 * @example
 * export const noop = definePlugin({
 *   type: 'noop',
 *   kind: 'meta',
 *   about: 'changes nothing',
 *   config: v.object({}),
 *   add: async ({ prevResult }) => prevResult ?? { cniVersion: '1.1.0' },
 *   del: async () => {},
 *   check: async () => {},
 *   gc: async () => {},
 *   status: async () => {},
 * });
 */
export function definePlugin<C>(definition: PluginDefinition<C>): Plugin {
  // The verbs are only ever called with what `config` has validated, so forgetting C is sound.
  return { versions: CNI_VERSIONS, ...definition } as unknown as Plugin;
}
