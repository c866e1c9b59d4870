/** Which members a plugin's configuration may have, and what their values should be like. */
import { pluginEntries } from '@heddle/cni';
import type { MemberType } from './known-plugin.ts';
import { KNOWN_PLUGINS, schemaOf } from './known-plugins.ts';

/** What every plugin's object may have: for the runtime, or for labels of others. */
export const COMMON_MEMBERS: readonly string[] = [
  ...Object.keys(pluginEntries),
  ...['args', 'runtimeConfig', 'disableCheck', 'disableGC', 'cniVersions'],
];

/** Whether a type's decoder reads a member, in any letter case. */
export function knowsMember(type: string, name: string): boolean {
  const lower = name.toLowerCase();
  return membersOf(type).some((each) => each.toLowerCase() === lower);
}

/** The names of the members that a type reads; empty for a type that is not known in detail. */
function membersOf(type: string): readonly string[] {
  const schema = schemaOf(type) as { readonly entries?: Readonly<Record<string, unknown>> } | undefined;
  return Object.keys(schema?.entries ?? KNOWN_PLUGINS.get(type)?.members ?? {});
}

/** What a value is, in the words of {@link MemberType}. */
export function kindOf(
  value: unknown,
): Exclude<MemberType, 'any' | 'text or number' | 'text or list'> | undefined {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'flag';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' && value !== null ? 'object' : undefined;
}

/** Whether a value is of a member's type; null always is. */
export function isOfType(value: unknown, type: MemberType): boolean {
  const kind = kindOf(value);
  return kind === undefined || type === 'any' || type.split(' or ').includes(kind);
}

/** A type in the words of a message. */
export const TYPE_WORDS: Readonly<Record<MemberType, string>> = {
  ...{ text: 'a text', number: 'a number', flag: 'true or false', list: 'a list', object: 'an object' },
  ...{ any: 'anything', 'text or number': 'a text or a number', 'text or list': 'a text or a list' },
};
