/** Failures as people and programs read them. This is the only place that prints one. */
import { NetworkNotFoundError, toCniError } from '@heddle/cni';
import { ErrorList, HeddleError } from '@heddle/errors';
import { EXIT } from '../exit-codes.ts';
import type { Surroundings } from '../surroundings.ts';
import { adviceFor } from './advice.ts';

/** How a failure is told. */
export interface ReportOptions {
  readonly format: 'text' | 'wide' | 'json';
  /** Whether the stack is printed. */
  readonly debug: boolean;
  /** The exit code for failures that have none of their own. */
  readonly exitCode?: number | undefined;
}

/** A failure as `-o json` prints it, below `error`. */
export interface ErrorJson {
  /** Stable, such as `CONFIG_INVALID`; see docs/errors.md. */
  readonly code: string;
  /** The code of the CNI specification. */
  readonly cniCode: number;
  readonly message: string;
  readonly hints: readonly string[];
  /** The single failures, where there were several. */
  readonly errors: readonly string[];
}

/** A failure with an exit code of its own. */
export class CommandError extends HeddleError {
  override readonly code = 'COMMAND_FAILED';
  readonly exitCode: number;

  constructor(
    exitCode: number,
    message: string,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Tells a failure on stderr, with `-o json` on stdout too. Returns the exit code. */
export function reportError(
  { stdout, stderr, isRoot }: Pick<Surroundings, 'stdout' | 'stderr' | 'isRoot'>,
  error: unknown,
  { format, debug, exitCode = EXIT.FAILED }: ReportOptions,
): number {
  const advice = adviceFor(messagesOf(error), { isRoot });
  stderr.write(errorText(error, advice));
  if (debug) stderr.write(stackOf(error));
  if (format === 'json') stdout.write(failureJson(error, advice));
  return error instanceof CommandError ? error.exitCode : exitCode;
}

/** What `-o json` prints of a failure. */
export function failureJson(error: unknown, advice?: readonly string[]): string {
  return `${JSON.stringify({ error: errorJson(error, advice) }, null, 2)}\n`;
}

/** The lines for people: each failure, then what can be done about it, as it says itself and as `advice` does. */
export function errorText(error: unknown, advice: readonly string[] = []): string {
  const messages = failures(error).map((each) => `heddle: ${each}\n`);
  const hints = [...hintsOf(error), ...advice].map((hint) => `  hint: ${hint}\n`);
  return [...messages, ...hints].join('');
}

/** The object for programs. */
export function errorJson(error: unknown, advice: readonly string[] = []): ErrorJson {
  return {
    code: error instanceof HeddleError ? error.code : 'INTERNAL',
    cniCode: toCniError(error).cniCode,
    message: messageOf(error),
    hints: [...hintsOf(error), ...advice],
    errors: error instanceof ErrorList ? failures(error) : [],
  };
}

function failures(error: unknown): readonly string[] {
  return error instanceof ErrorList ? error.errors.map(messageOf) : [messageOf(error)];
}

/** The messages of an error and of all that led to it. */
function messagesOf(error: unknown): readonly string[] {
  if (error instanceof ErrorList) return error.errors.flatMap(messagesOf);
  const below = error instanceof Error && error.cause !== undefined ? messagesOf(error.cause) : [];
  return [messageOf(error), ...below];
}

function messageOf(error: unknown): string {
  // The files that were passed over are told as hints, one a line.
  if (error instanceof NetworkNotFoundError) return error.msg;
  return error instanceof Error ? error.message : String(error);
}

function hintsOf(error: unknown): readonly string[] {
  const found = new Set<string>();
  const collect = (each: unknown): void => {
    if (each instanceof ErrorList) {
      each.errors.forEach(collect);
      return;
    }
    if (each instanceof HeddleError && each.hint !== undefined) found.add(each.hint);
    if (each instanceof NetworkNotFoundError) {
      for (const { path, error: broken } of each.broken)
        found.add(`not looked into: ${brokenText(path, broken)}`);
    } else if (each instanceof Error && each.cause !== undefined) collect(each.cause);
  };
  collect(error);
  return [...found];
}

function brokenText(path: string, error: unknown): string {
  const message = messageOf(error);
  return message.includes(path) ? message : `${path}: ${message}`;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause === undefined ? '' : `caused by ${stackOf(error.cause)}`;
  return `${error.stack ?? String(error)}\n${cause}`;
}
