/**
 * The textual forms of addresses. Parsers are written out by hand, because addresses are parsed by the
 * thousand when a node's tables are read; they return the value, or the reason why there is none.
 *
 * Grammar: Go's `netip.ParseAddr` without zones (RFC 4291 §2.2, decimal octets without leading zeros).
 * Output: RFC 5952.
 */

import { unexpected } from './addr-error.ts';

/** An address as four 32-bit words, most significant first; IPv4 sits in the last one. */
type Words = readonly [number, number, number, number];

const DOT = 0x2e;
const COLON = 0x3a;

/** The word of an IPv4 address, the words of an IPv6 one, or the reason why `text` is neither. */
export function parseAddr(text: string): number | Words | string {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === DOT) return parseV4(text, 0);
    if (code === COLON) return parseV6(text);
  }
  return text === '' ? 'it is empty' : 'neither IPv4 nor IPv6';
}

/** The 32-bit word of a dotted quad that starts at `start` and ends with the text, or the reason. */
function parseV4(text: string, start: number): number | string {
  let word = 0;
  let octets = 0;
  let value = 0;
  let digits = 0;
  for (let at = start; at <= text.length; at++) {
    const code = at === text.length ? DOT : text.charCodeAt(at);
    if (code === DOT) {
      if (octets === 4) return 'more than 4 octets';
      if (digits === 0) return `octet ${octets + 1} is empty`;
      word = (word << 8) | value;
      octets++;
      value = 0;
      digits = 0;
    } else if (code >= 0x30 && code <= 0x39) {
      if (digits > 0 && value === 0) return `octet ${octets + 1} has a leading zero`;
      value = value * 10 + code - 0x30;
      if (value > 255) return `octet ${octets + 1} is above 255`;
      digits++;
    } else {
      return unexpected(text, at);
    }
  }
  return octets === 4 ? word : `expected 4 octets, found ${octets}`;
}

/** The words of an IPv6 address, or the reason. */
function parseV6(text: string): Words | string {
  const groups: number[] = [];
  let gap = text.startsWith('::') ? 0 : -1;
  let at = gap === 0 ? 2 : 0;
  while (at < text.length) {
    if (groups.length === 8) return 'more than 8 groups';
    const start = at;
    let value = 0;
    for (; at < text.length; at++) {
      const digit = hexDigit(text.charCodeAt(at));
      if (digit < 0) break;
      if (at - start === 4) return `group ${groups.length + 1} has more than 4 digits`;
      value = (value << 4) | digit;
    }
    if (text.charCodeAt(at) === DOT) {
      if (groups.length > 6 || (gap < 0 && groups.length < 6)) {
        return 'an embedded IPv4 address takes the place of the last 2 groups';
      }
      const tail = parseV4(text, start);
      if (typeof tail === 'string') return tail;
      groups.push(tail >>> 16, tail & 0xffff);
      break;
    }
    if (at === start) {
      return text.charCodeAt(at) === COLON ? `group ${groups.length + 1} is empty` : unexpected(text, at);
    }
    groups.push(value);
    if (at === text.length) break;
    if (text.charCodeAt(at) !== COLON) return unexpected(text, at);
    at++;
    if (at === text.length) return 'it ends in a single colon';
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return 'more than one "::"';
      gap = groups.length;
      at++;
    }
  }
  const missing = 8 - groups.length;
  if (gap < 0 && missing > 0) return `expected 8 groups, found ${groups.length}`;
  if (gap >= 0) {
    if (missing === 0) return '"::" must stand for at least one group';
    groups.splice(gap, 0, ...new Array<number>(missing).fill(0));
  }
  const word = (index: number) => ((groups[index] ?? 0) << 16) | (groups[index + 1] ?? 0);
  return [word(0), word(2), word(4), word(6)];
}

/** Four decimal octets. */
export function formatV4(word: number): string {
  return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;
}

/** RFC 5952 §4: lower case, no leading zeros, the first longest run of two or more zero groups as "::". */
export function formatV6(words: Words): string {
  const groups = words.flatMap((word) => [word >>> 16, word & 0xffff]);
  let from = 0;
  let length = 1;
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > length) {
      from = start;
      length = end - start;
    }
    start = end;
  }
  if (length === 1) return hex(groups);
  return `${hex(groups.slice(0, from))}::${hex(groups.slice(from + length))}`;
}

function hex(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(':');
}

/** The value of a hexadecimal digit, -1 for any other character. */
export function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
