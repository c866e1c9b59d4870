/**
 * Member names as Go's decoder matches them: in any letter case, at every depth, the last of several
 * winning; but not the keys of a map, which are data. `null` leaves the default. Configurations in the wild
 * rely on it: containerd sends `HostPort`, `IngressRate`, `Servers`.
 *
 * A schema decides what is a struct and what is a map: valibot's `object` and `record`. Lists, tuples, unions
 * and variants are followed; intersections are not.
 */
import * as v from 'valibot';
import { isJsonObject, type JsonPath, jsonPointer } from './json-value.ts';
import { closest } from './spelling.ts';

/** A member that a schema does not know. */
export interface UnknownKey {
  /** JSON pointer of the object that holds it. */
  readonly pointer: string;
  readonly key: string;
  /** The known name that is spelled almost alike. */
  readonly suggestion?: string;
}

/**
 * Rewrites a value for validation: member names get the schema's spelling, members that the schema does not
 * know are left out (but for loose objects), nulls are dropped, and whole numbers become bigints where the
 * schema wants them. What does not fit the schema stays as it is, for validation to complain about.
 *
 * @example matchMembers(v.object({ hostPort: v.number() }), { HostPort: 80, x: 1 }) // { hostPort: 80 }
 */
export function matchMembers(schema: v.GenericSchema, value: unknown): unknown {
  return match(schema as unknown as SchemaNode, value);
}

/** The members of a value that the schema does not know, at every depth. Loose objects know every member. */
export function unknownKeys(schema: v.GenericSchema, value: unknown): readonly UnknownKey[] {
  return findUnknown(schema as unknown as SchemaNode, value, []);
}

/** What this module looks at in a valibot schema. */
interface SchemaNode {
  readonly type: string;
  readonly entries?: Readonly<Record<string, SchemaNode>>;
  readonly item?: SchemaNode;
  readonly items?: readonly SchemaNode[];
  readonly value?: SchemaNode;
  readonly wrapped?: SchemaNode;
  readonly options?: readonly SchemaNode[];
  readonly getter?: (input: unknown) => SchemaNode;
}

function match(schema: SchemaNode, value: unknown): unknown {
  const { entries, item, items, value: values, wrapped, options, getter } = schema;
  const wantsObject = entries !== undefined || schema.type === 'record';
  if (wantsObject && Array.isArray(value)) return LIST_FOR_OBJECT;
  if (entries !== undefined) return isJsonObject(value) ? matchObject(schema, entries, value) : value;
  if (item !== undefined) return Array.isArray(value) ? value.map((element) => match(item, element)) : value;
  if (items !== undefined && Array.isArray(value)) {
    return value.map((element, index) => {
      const at = items[index];
      return at === undefined ? element : match(at, element);
    });
  }
  if (schema.type === 'record' && values !== undefined) {
    return isJsonObject(value) ? mapMembers(value, (member) => match(values, member)) : value;
  }
  if (wrapped !== undefined) return match(wrapped, value);
  if (getter !== undefined) return match(getter(value), value);
  if (options !== undefined && isChoice(schema)) return matchOption(options, value);
  if (schema.type === 'bigint' && Number.isSafeInteger(value)) return BigInt(value as number);
  return value;
}

/** Stands for a list where an object must be: valibot would take a list for one. */
const LIST_FOR_OBJECT = Symbol('a list');

function matchObject(
  schema: SchemaNode,
  entries: Readonly<Record<string, SchemaNode>>,
  value: object,
): unknown {
  // With members of any name, `__proto__` may be one.
  if (schema.type !== 'object') return matchLooseObject(entries, value);
  const members: Record<string, unknown> = {};
  for (const key in value) {
    const name = nameOf(entries, key);
    const entry = name === undefined ? undefined : entries[name];
    if (name === undefined || entry === undefined) continue;
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member !== null || wantsNull(entry)) members[name] = match(entry, member);
  }
  return members;
}

function matchLooseObject(entries: Readonly<Record<string, SchemaNode>>, value: object): unknown {
  const members = new Map<string, unknown>();
  for (const [key, member] of Object.entries(value)) {
    const name = nameOf(entries, key);
    const entry = name === undefined ? undefined : entries[name];
    if (name === undefined || entry === undefined) members.set(key, member);
    else if (member !== null || wantsNull(entry)) members.set(name, match(entry, member));
  }
  return Object.fromEntries(members);
}

function nameOf(entries: Readonly<Record<string, SchemaNode>>, key: string): string | undefined {
  return Object.hasOwn(entries, key) ? key : inAnyCase(Object.keys(entries), key);
}

/** The first option that takes the value; else the first that could rename members in it. */
function matchOption(options: readonly SchemaNode[], value: unknown): unknown {
  const fits = options.find((option) => accepts(option, match(option, value)));
  const chosen =
    fits ?? (isJsonObject(value) ? options.find((option) => option.entries !== undefined) : undefined);
  return chosen === undefined ? value : match(chosen, value);
}

/** A picklist has options too, but they are texts. */
function isChoice({ type }: SchemaNode): boolean {
  return type === 'union' || type === 'variant';
}

function accepts(schema: SchemaNode, value: unknown): boolean {
  return v.is(schema as unknown as v.GenericSchema, value);
}

function wantsNull(schema: SchemaNode): boolean {
  if (['null', 'nullable', 'any', 'unknown'].includes(schema.type)) return true;
  return schema.wrapped !== undefined && wantsNull(schema.wrapped);
}

function findUnknown(schema: SchemaNode, value: unknown, path: JsonPath): readonly UnknownKey[] {
  const { entries, item, value: values, wrapped, options } = schema;
  if (wrapped !== undefined) return findUnknown(wrapped, value, path);
  if (Array.isArray(value)) {
    return item === undefined
      ? []
      : value.flatMap((element, index) => findUnknown(item, element, [...path, index]));
  }
  if (!isJsonObject(value)) return [];
  if (options !== undefined) {
    const option =
      options.find((each) => accepts(each, match(each, value))) ?? options.find((each) => each.entries);
    return option === undefined ? [] : findUnknown(option, value, path);
  }
  const members = Object.entries(value);
  if (schema.type === 'record' && values !== undefined) {
    return members.flatMap(([key, member]) => findUnknown(values, member, [...path, key]));
  }
  if (entries === undefined) return [];
  const names = Object.keys(entries);
  return members.flatMap(([key, member]) => {
    const name = Object.hasOwn(entries, key) ? key : inAnyCase(names, key);
    const entry = name === undefined ? undefined : entries[name];
    if (entry !== undefined) return findUnknown(entry, member, [...path, key]);
    if (schema.type === 'loose_object' || schema.type === 'object_with_rest') return [];
    const suggestion = closest(key, names);
    return [{ pointer: jsonPointer(path), key, ...(suggestion !== undefined && { suggestion }) }];
  });
}

function mapMembers(value: object, map: (member: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(member)]));
}

/** The name that is the same but for letter case. Folding keeps the length, so few names are worth folding. */
function inAnyCase(names: readonly string[], key: string): string | undefined {
  const folded = fold(key);
  return names.find((name) => name.length === key.length && fold(name) === folded);
}

/** Go folds ASCII letters, and the two signs that are letters in disguise: long s and the Kelvin sign. */
function fold(name: string): string {
  return name.replace(/[A-Z\u017f\u212a]/g, (char) => FOLDED[char] ?? char.toLowerCase());
}

const FOLDED: Readonly<Record<string, string>> = { '\u017f': 's', '\u212a': 'k' };
