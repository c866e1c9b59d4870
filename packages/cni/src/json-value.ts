/** JSON as values: the types, and the few questions that code asks of them. */

/** A JSON value. Whole numbers beyond 2^53 are bigints (see `parseJson`). */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** True for an object, false for arrays, null and everything else. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A place in a document: member names and array indices from the root. */
export type JsonPath = readonly (string | number)[];

/**
 * The RFC 6901 form of a path.
 *
 * @example jsonPointer(['ipam', 'ranges', 0]) // '/ipam/ranges/0'
 */
export function jsonPointer(path: JsonPath): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * The form of a path that people read.
 *
 * @example dottedPath(['ipam', 'ranges', 0, 'subnet']) // 'ipam.ranges[0].subnet'
 */
export function dottedPath(path: JsonPath): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`))
    .join('');
}
