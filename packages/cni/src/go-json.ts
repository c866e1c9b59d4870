/**
 * JSON text as Go's encoder writes it, so that bytes agree with the reference implementation's:
 * object members sorted where Go sorts them, and `<`, `>`, `&`, U+2028 and U+2029 escaped in strings.
 */

/**
 * Compact JSON with the members of every object sorted, as Go encodes a map. Members whose value is
 * `undefined` are left out.
 *
 * @example goJson({ b: 1, a: '<' }) // '{"a":"\\u003c","b":1}'
 */
export function goJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map((item) => goJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => compareUtf8(a, b))
      .map(([name, member]) => `${goEscape(JSON.stringify(name))}:${goJson(member)}`);
    return `{${members.join(',')}}`;
  }
  return goEscape(JSON.stringify(value ?? null));
}

/** JSON with the members in their own order, indented by four spaces; no newline at the end. */
export function goJsonIndented(value: unknown): string {
  return goEscape(JSON.stringify(value, null, 4));
}

/** A copy whose object members are sorted at every level, as if it had been written and read again. */
export function sortMembers<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => sortMembers<unknown>(item)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => compareUtf8(a, b));
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers<unknown>(member)])) as T;
}

/** Orders texts as their UTF-8 bytes do, which for characters beyond U+FFFF differs from JavaScript's order. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    const leftIsPair = isSurrogate(left);
    return leftIsPair === isSurrogate(right) ? left - right : leftIsPair ? 1 : -1;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

const ESCAPED = ['<', '>', '&', '\u2028', '\u2029'] as const;

// Outside strings JSON has none of these characters, so the whole text can be treated at once.
function goEscape(json: string): string {
  // Few texts have any; to look for them by a regular expression costs many times as much.
  if (!ESCAPED.some((char) => json.includes(char))) return json;
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
