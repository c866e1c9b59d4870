/**
 * What schemas declare beside what they check: values that a plugin refuses only when it acts. Schemas have them by
 * `v.metadata` in the words of JSON Schema; `enum`, `minimum`, `maximum` and `required` are looked at.
 */
import { isJsonObject, type JsonPath, type JsonValue } from '@heddle/cni';
import type { GenericSchema } from 'valibot';

/** A value beyond what its schema declares. */
export interface BeyondLimit {
  readonly path: JsonPath;
  /** The whole sentence, as validation words it. */
  readonly text: string;
}

/** The values of a configuration that are beyond what its schema declares. */
export function beyondLimits(schema: GenericSchema, value: JsonValue): readonly BeyondLimit[] {
  return [...walk(schema as unknown as Node, value, [])];
}

/** What is looked at in a valibot schema. */
interface Node {
  readonly entries?: Readonly<Record<string, Node>>;
  readonly item?: Node;
  readonly wrapped?: Node;
  readonly pipe?: readonly (Node & { readonly type?: string; readonly metadata?: Limits })[];
}

interface Limits {
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
}

function* walk(node: Node, value: JsonValue, path: JsonPath): Iterable<BeyondLimit> {
  const { entries, item, wrapped, pipe = [] } = node;
  for (const { type, metadata } of pipe) {
    if (type === 'metadata' && metadata !== undefined) yield* judge(metadata, value, path);
  }
  // A piped schema that is piped again keeps its own limits inside.
  const [inner] = pipe;
  if (inner?.pipe !== undefined) yield* walk({ pipe: inner.pipe }, value, path);
  if (wrapped !== undefined) yield* walk(wrapped, value, path);
  if (item !== undefined && Array.isArray(value)) {
    for (const [index, each] of (value as readonly JsonValue[]).entries())
      yield* walk(item, each, [...path, index]);
  }
  if (entries === undefined || !isJsonObject(value)) return;
  for (const [key, each] of Object.entries(value)) {
    const entry = Object.hasOwn(entries, key) ? entries[key] : inAnyCase(entries, key);
    if (entry !== undefined && each !== null) yield* walk(entry, each, [...path, key]);
  }
}

function* judge(limits: Limits, value: JsonValue, path: JsonPath): Iterable<BeyondLimit> {
  const { enum: words, minimum, maximum, required = [] } = limits;
  const place = path.join('.');
  // Plugins that take a word in any letter case list it in two of them.
  if (
    words !== undefined &&
    typeof value === 'string' &&
    !words.some((word) => word.toLowerCase() === value.toLowerCase())
  ) {
    const known = words.filter((word) => word !== '' && word === word.toLowerCase());
    yield { path, text: `${place}: expected one of ${known.join(', ')}, got ${JSON.stringify(value)}` };
  }
  const isBeyond = typeof value === 'number' && (value < (minimum ?? value) || value > (maximum ?? value));
  if (isBeyond) {
    const range = maximum === undefined ? `at least ${minimum}` : `from ${minimum} to ${maximum}`;
    yield { path, text: `${place}: expected an integer ${range}, got ${value}` };
  }
  if (!isJsonObject(value)) return;
  for (const name of required) {
    if (Object.keys(value).some((key) => key.toLowerCase() === name.toLowerCase())) continue;
    yield { path: [...path, name], text: `${[...path, name].join('.')} is missing` };
  }
}

function inAnyCase(entries: Readonly<Record<string, Node>>, key: string): Node | undefined {
  return Object.entries(entries).find(
    ([name]) => name.length === key.length && name.toLowerCase() === key.toLowerCase(),
  )?.[1];
}
