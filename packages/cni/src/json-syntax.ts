/**
 * What is wrong with a text that is no JSON, in words and with its place. Only error paths come here: a
 * tolerant parser reads the text again and tells where it first stumbled.
 */
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { JsonPath } from './json-value.ts';

/** A line and a column, both from 1; columns in UTF-16 units. */
export interface LineColumn {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a text, and where. */
export interface SyntaxProblem extends LineColumn {
  readonly reason: string;
  /** More words, where the reason alone is terse. */
  readonly note?: string;
}

/** The reason for a document that stops too early, as Go's decoder words it. */
export const UNEXPECTED_END = 'unexpected end of JSON input';

/** Finds the first problem of a text that `JSON.parse` refused. */
export function describeSyntaxProblem(text: string): SyntaxProblem {
  if (text.trim() === '') return { reason: UNEXPECTED_END, note: 'the text is empty', line: 1, column: 1 };
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors;
  if (first === undefined) return { reason: 'not valid JSON', line: 1, column: 1 };
  const comma = trailingComma(text, first.offset);
  if (comma !== undefined) {
    return { reason: `unexpected comma before ${quoteAt(text, first.offset)}`, ...lineColumn(text, comma) };
  }
  return { ...explain(text, first), ...lineColumn(text, first.offset) };
}

/**
 * The place of a value in a text. Where the last parts of the path are not there (a missing member), the
 * place of the nearest parent. Member names match in any letter case if no exact one is there; the last of
 * several counts.
 *
 * @example locate('{\n  "mtu": "big"\n}', ['mtu']) // { line: 2, column: 10 }
 */
export function locate(text: string, path: JsonPath): LineColumn {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root === undefined ? undefined : nearestNode(root, path);
  return lineColumn(text, node?.offset ?? 0);
}

function nearestNode(root: Node, path: JsonPath): Node {
  let node = root;
  for (const part of path) {
    const next = typeof part === 'number' ? findNodeAtLocation(node, [part]) : memberNode(node, part);
    if (next === undefined) break;
    node = next;
  }
  return node;
}

function memberNode(node: Node, name: string): Node | undefined {
  const members = node.type === 'object' ? (node.children ?? []) : [];
  const named = (matches: (key: string) => boolean) =>
    members.findLast((member) => matches(String(member.children?.[0]?.value)))?.children?.[1];
  return named((key) => key === name) ?? named((key) => key.toLowerCase() === name.toLowerCase());
}

function explain(text: string, { error, offset }: ParseError): { reason: string; note?: string } {
  const found = quoteAt(text, offset);
  if (found === undefined) return { reason: UNEXPECTED_END, note: 'the text stops in the middle' };
  const code = printParseErrorCode(error);
  const opensObject = text.slice(0, offset).trimEnd().endsWith('{');
  switch (opensObject && code === 'InvalidSymbol' ? 'PropertyNameExpected' : code) {
    case 'InvalidCommentToken':
      return { reason: 'comments are not part of JSON' };
    case 'EndOfFileExpected':
      return { reason: `unexpected ${found} after the end of the document` };
    case 'CommaExpected':
      return { reason: `missing comma before ${found}` };
    case 'ColonExpected':
      return { reason: `missing colon before ${found}` };
    case 'PropertyNameExpected':
      return { reason: `expected a member name in double quotes, got ${found}` };
    case 'ValueExpected':
      return { reason: `expected a value, got ${found}` };
    case 'InvalidSymbol':
      return { reason: `expected a value, got ${found}`, note: 'texts need double quotes' };
    case 'InvalidNumberFormat':
      return { reason: `malformed number ${found}` };
    case 'UnexpectedEndOfString':
      return text.includes('\n', offset)
        ? { reason: `the string ${found} is not closed on its line` }
        : { reason: UNEXPECTED_END, note: `the string ${found} is not closed` };
    case 'InvalidEscapeCharacter':
    case 'InvalidUnicode':
      return { reason: `unknown escape sequence in ${found}` };
    case 'InvalidCharacter':
      return { reason: 'control characters in strings must be escaped' };
    default:
      return { reason: `unexpected ${found}` };
  }
}

/** Where the comma is that makes a closing bracket at `offset` wrong. */
function trailingComma(text: string, offset: number): number | undefined {
  if (text[offset] !== '}' && text[offset] !== ']') return undefined;
  const before = text.slice(0, offset).trimEnd();
  return before.endsWith(',') ? before.length - 1 : undefined;
}

/** The word or mark at an offset, shortened; `undefined` at the end of the text. */
function quoteAt(text: string, offset: number): string | undefined {
  const [word] = /^(?:"[^"\n]*"?|[\w.+-]+|\S)/u.exec(text.slice(offset).trimStart()) ?? [];
  if (word === undefined) return undefined;
  return word.length > 40 ? `${word.slice(0, 40)}…` : word;
}

function lineColumn(text: string, offset: number): LineColumn {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
