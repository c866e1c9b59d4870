/** Validation issues in plain words: what was expected, what is there. */
import type * as v from 'valibot';
import { dottedPath, type JsonPath } from './json-value.ts';
import { closest } from './spelling.ts';

/** One thing that is wrong with a value. */
export interface Problem {
  readonly path: JsonPath;
  /** The whole sentence. */
  readonly text: string;
  readonly expected?: string;
  readonly received?: string;
  readonly hint?: string;
}

/** What is wrong, in words. A schema's own message is kept as it is, unless it begins with `expected `. */
export function problemOf(issue: v.BaseIssue<unknown>, parents: JsonPath = []): Problem {
  const path = [...parents, ...pathOf(issue)];
  const deeper = deepest(issue);
  if (deeper !== undefined) return problemOf(deeper, path);
  const place = dottedPath(path);
  const received = describe(issue.input);
  if (!hasOwnMessage(issue) && issue.expected === 'never') {
    return { path, text: `${place}: unknown member`, expected: 'no such member', received };
  }
  if (hasOwnMessage(issue) && !issue.message.startsWith(EXPECTED))
    return { path, text: issue.message, received };
  if (issue.input === undefined) return { path, text: `${place} is missing`, received };
  const expected = expectedWords(issue);
  const prefix = place === '' ? '' : `${place}: `;
  const suggestion = suggestionFor(issue);
  return {
    path,
    text: `${prefix}expected ${expected}, got ${received}`,
    expected,
    received,
    ...(suggestion !== undefined && { hint: `did you mean ${suggestion}?` }),
  };
}

/** A value as a message shows it: short, with its type where that is not plain. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return `${JSON.stringify(shorten(value))} (a string)`;
  if (typeof value === 'symbol') return value.description ?? 'a symbol';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

const EXPECTED = 'expected ';

const WORDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  bigint: 'an integer',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'an object',
};

function expectedWords(issue: v.BaseIssue<unknown>): string {
  if (hasOwnMessage(issue)) return issue.message.slice(EXPECTED.length);
  const expected = issue.expected ?? '';
  if (issue.type === 'integer') return 'an integer';
  if (expected.startsWith('>=')) return `at least ${expected.slice(2)}`;
  if (expected.startsWith('<=')) return `at most ${expected.slice(2)}`;
  const choices = choicesOf(expected);
  if (choices.length > 1) return `one of ${choices.map((choice) => WORDS[choice] ?? choice).join(', ')}`;
  return WORDS[expected] ?? (expected === '' ? 'another value' : expected);
}

function choicesOf(expected: string): readonly string[] {
  return expected.replace(/^\((.*)\)$/, '$1').split(' | ');
}

function suggestionFor(issue: v.BaseIssue<unknown>): string | undefined {
  if (typeof issue.input !== 'string') return undefined;
  return closest(
    JSON.stringify(issue.input),
    choicesOf(issue.expected ?? '').filter((choice) => choice.startsWith('"')),
  );
}

/** Of the issues of a union's options, the one that got furthest into the value. */
function deepest(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown> | undefined {
  const inside = (issue.issues ?? []).filter((each) => pathOf(each).length > 0);
  return inside.toSorted((a, b) => pathOf(b).length - pathOf(a).length)[0];
}

function pathOf(issue: v.BaseIssue<unknown>): JsonPath {
  return (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)));
}

/** Valibot's own messages all have one form. */
function hasOwnMessage({ message, expected, received }: v.BaseIssue<unknown>): boolean {
  const standard = expected ? `Expected ${expected} but received ${received}` : `Received ${received}`;
  return !(message.startsWith('Invalid ') && message.endsWith(standard));
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
