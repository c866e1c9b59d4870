/**
 * From text to a typed, valid configuration: parse, match member names as the reference does, validate
 * against a schema, and when something is wrong say where and what, in words.
 */
import * as v from 'valibot';
import { ConfigError, type SourcePosition } from './errors.ts';
import { type Problem, problemOf } from './issue-words.ts';
import { decodeText, parseJson } from './json.ts';
import { locate } from './json-syntax.ts';
import { dottedPath, type JsonPath, jsonPointer } from './json-value.ts';
import { matchMembers } from './members.ts';

/** How to speak of a configuration in errors. */
export interface DecodeConfigOptions {
  /** The file that the configuration is from. */
  readonly file?: string;
  /** The activity or the thing; errors begin with it. */
  readonly what?: string;
  /** For a value that is a part of a larger text: that text and the place in it, to report positions. */
  readonly source?: { readonly text: string; readonly path: JsonPath };
}

/**
 * The typed view of a configuration.
 *
 * @throws {DecodeError} when the input is text and no JSON.
 * @throws {ConfigError} when it does not fit the schema: pointer, expected, received, and the position in
 *   the text. All further problems are in its `details.problems`.
 * @example
 * decodeConfig(v.object({ mtu: uint(65535) }), '{"MTU": "1500"}', { what: 'network configuration' })
 * // ConfigError: network configuration: mtu: expected an integer from 0 to 65535, got "1500" (a string)
 */
export function decodeConfig<S extends v.GenericSchema>(
  schema: S,
  input: string | Uint8Array | object,
  options: DecodeConfigOptions = {},
): v.InferOutput<S> {
  if (typeof input !== 'string' && !(input instanceof Uint8Array))
    return decodeParsed(schema, input, options);
  const source = { text: decodeText(input, options), path: [] };
  return decodeParsed(schema, parseJson(input, options), { ...options, source });
}

/**
 * The typed view of a JSON value of any kind.
 *
 * @throws {ConfigError} as {@link decodeConfig}.
 */
export function decodeParsed<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  options: DecodeConfigOptions,
): v.InferOutput<S> {
  const decoded = decodeValue(schema, value);
  if (decoded.ok) return decoded.output;
  throw configError(decoded.problems, options);
}

/** What {@link decodeValue} found. */
export type Decoded<T> =
  | { readonly ok: true; readonly output: T }
  | { readonly ok: false; readonly problems: readonly [Problem, ...Problem[]] };

/** Matches and validates without throwing. */
export function decodeValue<S extends v.GenericSchema>(schema: S, value: unknown): Decoded<v.InferOutput<S>> {
  const result = v.safeParse(schema, matchMembers(schema, value));
  if (result.success) return { ok: true, output: result.output };
  const [first, ...rest] = result.issues;
  return { ok: false, problems: [problemOf(first), ...rest.map((issue) => problemOf(issue))] };
}

/** The error for the first of several problems; the others are in its details. */
export function configError(
  problems: readonly [Problem, ...Problem[]],
  options: DecodeConfigOptions,
): ConfigError {
  const [{ path, text, expected, received, hint }, ...others] = problems;
  const place = dottedPath(path);
  const notes = [
    ...(place === '' || text.includes(place) ? [] : [`at ${place}`]),
    ...others.map((problem) => problem.text),
  ];
  return new ConfigError(text, {
    pointer: jsonPointer(path),
    ...(options.what !== undefined && { what: options.what }),
    ...positionOf(path, options),
    ...(notes.length > 0 && { cniDetails: notes.join('; ') }),
    ...(expected !== undefined && { expected }),
    ...(received !== undefined && { received }),
    ...(hint !== undefined && { hint }),
    details: {
      problems: problems.map((problem) => ({ pointer: jsonPointer(problem.path), text: problem.text })),
    },
  });
}

function positionOf(path: JsonPath, { file, source }: DecodeConfigOptions): SourcePosition {
  return {
    ...(file !== undefined && { file }),
    ...(source !== undefined && locate(source.text, [...source.path, ...path])),
  };
}
