/** Failed tests, each in so few lines that the end of a log tells what went wrong. */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { causeOf } from './lab/test-events.ts';

/** What the runner says of a test that failed. */
export type Failed = Extract<TestEvent, { type: 'test:fail' }>['data'];

/** Whether a suite, or a test with subtests, failed only because something in it did, of which there is an event of its own. */
export function isSumOfOthers({ details: { error } }: Failed): boolean {
  return /^\W*\d+ subtests? failed/.test(textOf(error));
}

/**
 * The name, the place and the error: the beginning of what it says, the line of ours that it came from, and the two values
 * of an assertion, which a long message would push out of sight.
 *
 * @param root paths are told from there
 */
export function failureText({ name, file, line, details: { error } }: Failed, root: string): string {
  const where = file === undefined ? '' : ` (${relative(root, file)}${line === undefined ? '' : `:${line}`})`;
  const lines = textOf(error).split('\n');
  const frame = lines.findIndex((each) => /^\s+at .*\.test\.ts:\d/.test(each));
  const firstFrame = lines.findIndex((each) => /^\s+at /.test(each));
  const message = lines.slice(0, firstFrame === -1 ? lines.length : firstFrame);
  const values = lines.filter((each) => /^\s+(actual|expected): /.test(each)).map(shortened);
  const cut = message.length > MOST_LINES ? [`… ${message.length - MOST_LINES} lines more`] : [];
  const told = [
    ...message.slice(0, MOST_LINES).map(shortened),
    ...cut,
    ...(frame === -1 ? [] : [lines[frame]?.trim() ?? '']),
    ...values.map((each) => each.trim()),
  ];
  return [`failed: ${name}${where}`, ...told.map((each) => `    ${each}`.trimEnd())].join('\n');
}

function textOf(error: Error | undefined): string {
  const cause = error === undefined ? undefined : causeOf(error);
  if (typeof cause !== 'string') return inspect(cause);
  // So ends a file whose process ended by itself.
  const { exitCode, signal } = { ...error } as { readonly exitCode?: unknown; readonly signal?: unknown };
  return exitCode === undefined ? cause : `${cause}: exit status ${exitCode}, signal ${signal}`;
}

function shortened(line: string): string {
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}

const MOST_LINES = 15;
const MOST_CHARACTERS = 400;
