import { HeddleError } from '@heddle/errors';

/**
 * A text or a combination of values that is no address, prefix, range or MAC. `message` starts as Go's
 * `net.ParseError` does (`invalid IP address: <text>`, `invalid CIDR address: <text>`), because tools match
 * on it; the reason follows in parentheses.
 *
 * @example
 * Addr.parse('10.1.2'); // AddrError: invalid IP address: 10.1.2 (expected 4 octets, found 3)
 */
export class AddrError extends HeddleError {
  override readonly code = 'ADDR_INVALID';
}

/** The error for a text that could not be parsed as `kind` ("IP address", "CIDR address", …). */
export function invalid(kind: string, text: string, reason: string): AddrError {
  return new AddrError(`invalid ${kind}: ${excerpt(text)} (${reason})`, { details: { kind, text, reason } });
}

/** The reason for a character that the grammar has no place for. */
export function unexpected(text: string, at: number): string {
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return char === '%' ? 'zone ids are not accepted' : `unexpected ${JSON.stringify(char)}`;
}

/** The longest legitimate text has 49 characters: a message need not carry a megabyte of garbage. */
function excerpt(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
