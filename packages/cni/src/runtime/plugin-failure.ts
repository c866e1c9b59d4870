/**
 * What a failed plugin run is called. A plugin that fails prints an error object on stdout; the texts for
 * those that do otherwise are the reference's, because people search their logs for them.
 */

import { existsSync } from 'node:fs';
import { getSystemErrorMessage, getSystemErrorName } from 'node:util';
import { goJson, isJsonObject, type JsonObject, PluginError, parseJson } from '../index.ts';
import { jsonDocuments } from './json-documents.ts';
import type { PluginRun } from './plugin-exec.ts';
import { formatProblem } from './program-format.ts';

/** How a plugin ended that did not succeed. */
export interface PluginEnd {
  readonly exitCode: number | null;
  readonly signal?: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The error of a plugin that ran and failed. */
export function failedPlugin({ type, path, signal }: PluginRun, end: PluginEnd): PluginError {
  const how = describeEnd(end);
  const { stdout, stderr } = end;
  const options = {
    details: { path, end: how, ...(stderr !== '' && { stderr }) },
    ...(signal?.aborted && { cause: signal.reason }),
  };
  const fail = (msg: string): PluginError => new PluginError(type, { code: 0, msg }, options);
  if (stdout.trim() === '') {
    // execvp(3) has the shell try what the kernel does not take, and what that says helps nobody.
    const format = formatProblem(path);
    if (format !== undefined)
      return fail(noMessage(`fork/exec ${path}: exec format error: it is ${format.words}`));
    if (stderr === '') return fail(noMessage(how));
    return fail(`netplugin failed: ${goJson(stderr)}: ${how}`);
  }
  try {
    const error = PluginError.fromJson(type, parseJson(stdout), options);
    return error.message === '' ? fail(`netplugin failed with an empty error object: ${how}`) : error;
  } catch (problem) {
    return withNoise(type, stdout, options) ?? fail(unreadable(stdout, problem));
  }
}

/** The error of a plugin that could not be started, or was not because the caller had given up. */
export function unstartedPlugin({ type, path }: PluginRun, cause: unknown): PluginError {
  const msg = noMessage(describeStart(path, cause));
  return new PluginError(type, { code: 0, msg }, { cause, details: { path } });
}

function noMessage(why: string): string {
  return `netplugin failed with no error message: ${why}`;
}

/** The error object among other things on stdout, such as log lines or an earlier result. */
function withNoise(type: string, stdout: string, options: object): PluginError | undefined {
  const object = jsonDocuments(stdout).findLast(isErrorObject);
  if (object === undefined) return undefined;
  const said = PluginError.fromJson(type, object);
  const noise = `stdout held more than this error object: ${excerpt(stdout)}`;
  const details = said.cniDetails === undefined ? noise : `${said.cniDetails}; ${noise}`;
  return new PluginError(type, { code: said.cniCode, msg: said.msg, details }, options);
}

function isErrorObject(value: unknown): value is JsonObject {
  return isJsonObject(value) && Number.isSafeInteger(value['code']) && typeof value['msg'] === 'string';
}

function unreadable(stdout: string, problem: unknown): string {
  const reason = problem instanceof Error ? problem.message : String(problem);
  return `netplugin failed but error parsing its diagnostic message ${goJson(stdout)}: ${reason}`;
}

/** The first bytes of what a plugin printed, quoted. */
export function excerpt(text: string): string {
  return text.length <= EXCERPT ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, EXCERPT))}…`;
}

const EXCERPT = 200;

function describeEnd({ exitCode, signal }: PluginEnd): string {
  return signal ? `signal: ${SIGNAL_WORDS[signal] ?? signal}` : `exit status ${exitCode ?? 'unknown'}`;
}

// The words of Go's syscall package.
const SIGNAL_WORDS: Partial<Record<NodeJS.Signals, string>> = {
  SIGABRT: 'aborted',
  SIGBUS: 'bus error',
  SIGFPE: 'floating point exception',
  SIGHUP: 'hangup',
  SIGILL: 'illegal instruction',
  SIGINT: 'interrupt',
  SIGKILL: 'killed',
  SIGPIPE: 'broken pipe',
  SIGQUIT: 'quit',
  SIGSEGV: 'segmentation fault',
  SIGTERM: 'terminated',
};

function describeStart(path: string, cause: unknown): string {
  const errno = cause instanceof Error ? (cause as NodeJS.ErrnoException).errno : undefined;
  if (errno === undefined) return cause instanceof Error ? cause.message : String(cause);
  const isThere = getSystemErrorName(errno) === 'ENOENT' && existsSync(path);
  const reason = `${getSystemErrorMessage(errno)} (${getSystemErrorName(errno)})`;
  return `fork/exec ${path}: ${isThere ? `its interpreter is missing: ${reason}` : reason}`;
}
