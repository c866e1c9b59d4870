/**
 * Reading a configuration for taking something down. A member that is not valid has kept ADD from succeeding; it
 * must not keep DEL from cleaning up for ever, so it is left out.
 */
import type * as v from 'valibot';
import { configError, type DecodeConfigOptions, decodeValue } from './decode.ts';
import { isJsonObject, type JsonPath } from './json-value.ts';
import { matchMembers } from './members.ts';

/** A configuration as far as it is valid. */
export interface LenientlyDecoded<T> {
  readonly output: T;
  /** What was wrong with the members that were left out, in words. */
  readonly ignored: readonly string[];
}

/**
 * The typed view of a configuration without its invalid members.
 *
 * @throws {ConfigError} when what is left lacks something that the schema requires
 * @example decodeLeniently(v.object({ mtu: v.optional(uint(), 0) }), { mtu: 'big' }).output // { mtu: 0 }
 */
export function decodeLeniently<S extends v.GenericSchema>(
  schema: S,
  value: object,
  options: DecodeConfigOptions = {},
): LenientlyDecoded<v.InferOutput<S>> {
  const ignored: string[] = [];
  for (let rest = matchMembers(schema, value); ; ) {
    const decoded = decodeValue(schema, rest);
    if (decoded.ok) return { output: decoded.output, ignored };
    const [problem] = decoded.problems;
    const culprit = existingPart(rest, problem.path);
    if (culprit.length === 0) throw configError(decoded.problems, options);
    ignored.push(problem.text);
    rest = without(rest, culprit);
  }
}

/** The part of a path that leads to something: of a missing member, the object that lacks it. */
function existingPart(value: unknown, path: JsonPath): JsonPath {
  let at = value;
  let length = 0;
  for (const step of path) {
    if (!(isJsonObject(at) || Array.isArray(at)) || !Object.hasOwn(at, step)) break;
    at = (at as Readonly<Record<string | number, unknown>>)[step];
    length++;
  }
  return path.slice(0, length);
}

function without(value: unknown, [step, ...rest]: JsonPath): unknown {
  if (step === undefined) return value;
  if (Array.isArray(value)) {
    return rest.length === 0
      ? value.toSpliced(Number(step), 1)
      : value.with(Number(step), without(value[Number(step)], rest));
  }
  const members = value as Readonly<Record<string, unknown>>;
  if (rest.length > 0) return { ...members, [step]: without(members[step], rest) };
  return Object.fromEntries(Object.entries(members).filter(([name]) => name !== step));
}
