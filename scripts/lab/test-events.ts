/** What the test runner says, as lines of text: so that it can be said in the guest and heard here. */
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/** Where the guest writes them. */
export const REPORT_FD = 3;

/** One line. */
export function eventLine({ type, data }: TestEvent): string {
  const text = JSON.stringify({ type, data }, (_, value: unknown) =>
    value instanceof Error ? { [ERROR]: inspect(causeOf(value)) } : value,
  );
  return `${text}\n`;
}

/** Reads a line of {@link eventLine}. Errors look as they did, and are nothing else. */
export function parseEventLine(line: string): TestEvent {
  return JSON.parse(line, (_, value: unknown) => {
    const text = value instanceof Object && ERROR in value ? value[ERROR] : undefined;
    return typeof text === 'string'
      ? Object.assign(new Error(text.split('\n', 1)[0]), { stack: text })
      : value;
  });
}

const ERROR = 'error in the guest';

/** What a test threw: the runner wraps it. */
export function causeOf(error: Error): unknown {
  return 'code' in error && error.code === 'ERR_TEST_FAILURE' && error.cause !== undefined
    ? error.cause
    : error;
}
