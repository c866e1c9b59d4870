/** What a plugin of a list gets on stdin: its own object, and what the runtime adds. */
import { VALID_ATTACHMENT_KEYS, type ValidAttachment } from './attachment.ts';
import type { Command } from './environment.ts';
import { UsageError } from './errors.ts';
import { sortMembers } from './go-json.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import type { NetworkConfigList } from './network-list.ts';
import type { PluginConfig } from './plugin-config.ts';
import { atLeast } from './versions.ts';

/** What the runtime adds to a plugin's object. */
export interface DeriveOptions {
  /** The previous result, in the list's version; see {@link prevResultFor}. */
  readonly prevResult?: JsonObject;
  /** What the runtime offers, by capability name. A plugin gets what it declares. */
  readonly capabilityArgs?: Readonly<Record<string, JsonValue>>;
  /** For GC: the attachments that are alive; null is sent as null. */
  readonly attachments?: readonly ValidAttachment[] | null;
}

/** Where the prevResult of a command comes from. */
export type PrevResultSource = 'none' | 'previous plugin' | 'cache';

/**
 * The object that a plugin gets. Members are sorted: a plugin that matches names in any letter case takes
 * the last of several, and the injected one must be it.
 *
 * When the plugin declares a capability that `capabilityArgs` has, `runtimeConfig` is replaced as a whole;
 * otherwise one that the operator wrote stays.
 *
 * @throws {UsageError} for a capability with an empty name.
 */
export function deriveStdin(
  list: Pick<NetworkConfigList, 'name' | 'cniVersion'>,
  plugin: Pick<PluginConfig, 'raw' | 'capabilities'>,
  { prevResult, capabilityArgs = {}, attachments }: DeriveOptions = {},
): JsonObject {
  const runtimeConfig = enabledArgs(plugin.capabilities, capabilityArgs);
  const live = attachments as JsonValue | undefined;
  return sortMembers<JsonObject>({
    ...plugin.raw,
    name: list.name,
    cniVersion: list.cniVersion,
    ...(prevResult !== undefined && { prevResult }),
    ...(Object.keys(runtimeConfig).length > 0 && { runtimeConfig }),
    ...(live !== undefined && Object.fromEntries(VALID_ATTACHMENT_KEYS.map((key) => [key, live]))),
  });
}

/**
 * Which previous result a command hands to a plugin: ADD the one of the plugin before, CHECK and (from
 * 0.4.0 on) DEL the final one of ADD, the others none.
 */
export function prevResultFor(command: Command, version: string): PrevResultSource {
  if (command === 'ADD') return 'previous plugin';
  if (command === 'CHECK') return 'cache';
  return command === 'DEL' && atLeast(version, '0.4.0') ? 'cache' : 'none';
}

function enabledArgs(
  capabilities: Readonly<Record<string, boolean>>,
  args: Readonly<Record<string, JsonValue>>,
): JsonObject {
  const enabled = Object.entries(args).filter(
    ([name]) => Object.hasOwn(capabilities, name) && capabilities[name] === true,
  );
  for (const [name, value] of enabled) {
    if (name === '') throw new UsageError('keys cannot be empty', { code: 'ARGS_INVALID' });
    if (value === undefined)
      throw new UsageError(`key '${name}' value must not be nil`, { code: 'ARGS_INVALID' });
  }
  return Object.fromEntries(enabled);
}
