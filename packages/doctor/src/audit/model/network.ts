/** The networks that files describe, and the plugins of each with their places; read as far as they make sense. */
import {
  atLeast,
  isJsonObject,
  type JsonObject,
  type JsonPath,
  type JsonValue,
  negotiate,
} from '@heddle/cni';
import type { KnownPlugin } from '../known/known-plugin.ts';
import { KNOWN_PLUGINS } from '../known/known-plugins.ts';
import type { Document } from './document.ts';
import type { AuditedFile } from './file.ts';

/** A network as its file has it. */
export interface Network {
  readonly file: AuditedFile;
  readonly document: Document;
  /** Where in the document it is: at the top, or a delegate of another. */
  readonly path: JsonPath;
  /** The object of the list, or of the single plugin. */
  readonly raw: JsonObject;
  /** Whether the object is a list of plugins, whatever the name of the file says. */
  readonly isList: boolean;
  /** The name; nothing where there is none, or it is no text. */
  readonly name?: string;
  /** The version in force after negotiation; empty where none is named. */
  readonly version: string;
  readonly parts: readonly PluginPart[];
  /** The plugin that starts this network itself, for a delegate of Multus. */
  readonly startedBy?: PluginPart;
}

/** A plugin of a network. */
export interface PluginPart {
  /** The document that it is written in: the network's, or a sibling's. */
  readonly document: Document;
  readonly path: JsonPath;
  readonly raw: JsonObject;
  /** Its position in the chain, from 0. */
  readonly index: number;
  /** Nothing where there is none, or it is no text. */
  readonly type?: string;
  readonly known?: KnownPlugin;
  /** The object that says who gives addresses. */
  readonly ipam?: JsonObject;
  readonly ipamPath: JsonPath;
  /** Who gives addresses; nothing where nobody does. */
  readonly ipamType?: string;
  /** The capabilities that it declares, the ones that are `false` left out. */
  readonly capabilities: readonly string[];
}

/** The networks of a file: one, or none for a file that holds no whole object; then the delegates in it. */
export function networksOf(file: AuditedFile): readonly Network[] {
  return file.document?.memo.once(file, readNetworks) ?? [];
}

function readNetworks(file: AuditedFile): readonly Network[] {
  const { document, role, siblings } = file;
  if (document?.object === undefined || document.isPartial || role === 'sibling') return [];
  const network = networkAt(file, document, [], document.object, siblings);
  return [network, ...network.parts.flatMap((part) => delegatesOf(file, part))];
}

/** A member by name in any letter case, as Go's decoder finds it; with the name as it is written. */
export function member(
  object: JsonObject,
  name: string,
): readonly [key: string, value: JsonValue] | undefined {
  let found: readonly [key: string, value: JsonValue] | undefined;
  for (const key in object) {
    const value = object[key];
    if (key.length !== name.length || value === undefined || value === null) continue;
    if (key === name || key.toLowerCase() === name.toLowerCase()) found = [key, value];
  }
  return found;
}

/** A member's value when it is a text. */
export function textMember(object: JsonObject | undefined, name: string): string | undefined {
  const value = object === undefined ? undefined : member(object, name)?.[1];
  return typeof value === 'string' ? value : undefined;
}

/** A member's value when it is a number. */
export function numberMember(object: JsonObject | undefined, name: string): number | undefined {
  const value = object === undefined ? undefined : member(object, name)?.[1];
  return typeof value === 'number' ? value : undefined;
}

/** Whether a member is `true`. */
export function isOn(object: JsonObject, name: string): boolean {
  return member(object, name)?.[1] === true;
}

/** A member's value when it is an object. */
export function objectMember(object: JsonObject, name: string): JsonObject | undefined {
  const value = member(object, name)?.[1];
  return value !== undefined && isJsonObject(value) ? value : undefined;
}

/** A member's value when it is a list. */
export function listMember(object: JsonObject, name: string): readonly JsonValue[] | undefined {
  const value = member(object, name)?.[1];
  return Array.isArray(value) ? (value as readonly JsonValue[]) : undefined;
}

/** What people call a network in a message. */
export function nameOf({ name, file }: Network): string {
  return name === undefined || name === '' ? file.name : name;
}

/** Whether the version in force is `minimum` or newer; a malformed one counts as new enough. */
export function speaks({ version }: Network, minimum: Parameters<typeof atLeast>[1]): boolean {
  try {
    return atLeast(version, minimum);
  } catch {
    return true;
  }
}

function networkAt(
  file: AuditedFile,
  document: Document,
  path: JsonPath,
  raw: JsonObject,
  siblings: readonly AuditedFile[] = [],
): Network {
  const plugins = raw['plugins'];
  const isListFile = file.role === 'list' && path.length === 0;
  const isList = (plugins !== undefined || isListFile) && typeof raw['type'] !== 'string';
  const inlined = isList
    ? (Array.isArray(plugins) ? (plugins as readonly JsonValue[]) : []).flatMap((each, index) =>
        isJsonObject(each) ? [partOf(document, [...path, 'plugins', index], each, index)] : [],
      )
    : [partOf(document, path, raw, 0)];
  const others = siblings.flatMap(({ document: own }, index) =>
    own?.object === undefined ? [] : [partOf(own, [], own.object, inlined.length + index)],
  );
  const name = isList ? raw['name'] : textMember(raw, 'name');
  return {
    ...{ file, document, path, raw, isList, version: versionOf(raw), parts: [...inlined, ...others] },
    ...(typeof name === 'string' && { name }),
  };
}

function versionOf(raw: JsonObject): string {
  const written = raw['cniVersion'];
  const version = typeof written === 'string' ? written : '';
  const offered = raw['cniVersions'];
  if (!Array.isArray(offered)) return version;
  try {
    return negotiate(
      offered.filter((each) => typeof each === 'string'),
      version,
    );
  } catch {
    return version;
  }
}

function partOf(document: Document, path: JsonPath, raw: JsonObject, index: number): PluginPart {
  const type = textMember(raw, 'type');
  const known = type === undefined ? undefined : KNOWN_PLUGINS.get(type);
  const [ipamKey = 'ipam', ipam] = member(raw, 'ipam') ?? [];
  const ipamObject = ipam !== undefined && isJsonObject(ipam) ? ipam : undefined;
  const ipamType = textMember(ipamObject, 'type');
  const capabilities = objectMember(raw, 'capabilities') ?? {};
  return {
    ...{ document, path, raw, index, ipamPath: [...path, ipamKey] },
    capabilities: Object.keys(capabilities).filter((name) => capabilities[name] === true),
    ...(type !== undefined && { type }),
    ...(known !== undefined && { known }),
    ...(ipamObject !== undefined && { ipam: ipamObject }),
    ...(ipamType !== undefined && ipamType !== '' && { ipamType }),
  };
}

/** What Multus starts: networks of its own kind inside its object. */
function delegatesOf(file: AuditedFile, part: PluginPart): readonly Network[] {
  if (part.known?.vendor !== 'Multus') return [];
  return (listMember(part.raw, 'delegates') ?? []).flatMap((each, index) => {
    if (!isJsonObject(each)) return [];
    const path = [...part.path, 'delegates', index];
    return [{ ...networkAt(file, part.document, path, each), startedBy: part }];
  });
}
