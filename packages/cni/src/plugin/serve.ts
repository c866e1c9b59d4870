/**
 * The plugin's side of the protocol: environment and stdin in, JSON and an exit status out
 * (specification 1.1.0, sections 2 and 3). Errors are mapped to their CNI codes here and nowhere else.
 */
import { CNI_CODE } from '../codes.ts';
import { type Command, type Invocation, knownCommand, readEnvironment } from '../environment.ts';
import { CniError, toCniError } from '../errors.ts';
import { goJsonIndented } from '../go-json.ts';
import { stringifyResult } from '../result-render.ts';
import type { Plugin } from './definition.ts';
import type { PluginHost } from './host.ts';
import { inTurn } from './in-turn.ts';
import { aboutText, versionJson } from './introduction.ts';
import { checkVersion, type Request, readRequest } from './request.ts';
import { runPlugin } from './run.ts';

/** How a plugin is called. */
export interface PluginInvocation {
  /** The whole environment; delegates inherit it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads stdin to its end. */
  readonly readStdin: () => Uint8Array;
}

/** What a plugin's process would print, and how it would end. */
export interface PluginOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Serves one invocation. Never throws: whatever goes wrong becomes the error object on stdout.
 *
 * @example
 * const { exitCode, stdout } = await serve(bridge, { env: process.env, readStdin }, host);
 */
export async function serve(
  plugin: Plugin,
  { env, readStdin }: PluginInvocation,
  ports: PluginHost,
): Promise<PluginOutcome> {
  if ((env['CNI_COMMAND'] ?? '') === '') return { exitCode: 0, stdout: '', stderr: aboutText(plugin) };
  const warnings: string[] = [];
  let request: Request | undefined;
  const done = (stdout: string, exitCode = 0): PluginOutcome => ({
    exitCode,
    stdout,
    stderr: warnings.map((line) => `${line}\n`).join(''),
  });
  try {
    const invocation = readEnvironment(env);
    if (invocation.command === 'VERSION') return done(`${versionJson(plugin, questionOf(readStdin))}\n`);
    request = readRequest(readAll(readStdin), ports.decoded);
    const command = checked(plugin, invocation, request);
    const warn = (message: string) => warnings.push(message.replaceAll('\n', ' '));
    const result = await inTurn({ plugin, command, invocation, request, env, ports, warn }, runPlugin);
    return done(result === undefined ? '' : stringifyResult(result, request.cniVersion));
  } catch (error) {
    if (isDefect(error)) warnings.push(error.stack ?? String(error));
    return done(errorJson(error, request?.cniVersion), 1);
  }
}

/** The error object for anything thrown, as plugins print it. */
export function errorJson(error: unknown, cniVersion?: string): string {
  const { code, msg, details } = toCniError(error).toJSON();
  return goJsonIndented({
    ...(cniVersion !== undefined && { cniVersion }),
    code,
    msg,
    ...(details !== undefined && { details }),
  });
}

function checked(plugin: Plugin, invocation: Invocation, request: Request): Exclude<Command, 'VERSION'> {
  const command = knownCommand(invocation.command) as Exclude<Command, 'VERSION'>;
  checkVersion(plugin, command, request.cniVersion);
  return command;
}

function readAll(readStdin: () => Uint8Array): Uint8Array {
  try {
    return readStdin();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new CniError(CNI_CODE.IO_FAILURE, `error reading from stdin: ${text}`, { cause: error });
  }
}

/** VERSION is answered whatever its input is. */
function questionOf(readStdin: () => Uint8Array): string {
  try {
    return new TextDecoder().decode(readStdin());
  } catch {
    return '';
  }
}

/** An error that nobody threw on purpose: its stack is worth showing. */
function isDefect(error: unknown): error is Error {
  return (
    error instanceof Error && toCniError(error).cniCode === CNI_CODE.INTERNAL && !(error instanceof CniError)
  );
}
