/** The demo's stage: what it prints, and how it runs the commands that it shows. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { styleText } from 'node:util';

/** How a shown command is run. */
export interface Showing {
  /** Which lines of the output to show; all unless said otherwise. */
  readonly show?: (line: string) => boolean;
  /** Variables to set for it. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Announces a chapter, with a sentence on what it is about. */
export function chapter(title: string, about: string): void {
  console.log(`\n${styleText('bold', title)}\n${about}\n`);
}

/** Says something between commands. */
export function say(text: string): void {
  console.log(text);
}

/**
 * Shows a command as a person would type it, runs it and shows what it prints.
 *
 * @throws {Error} when the command fails
 */
export function run(command: readonly string[], showing: Showing = {}): void {
  const { status, stdout, stderr } = perform(command, showing);
  print(stdout, showing.show);
  if (status !== 0) throw new Error(`${command.join(' ')} failed:\n${stdout}${stderr}`);
}

/**
 * The same for a command that is meant to fail.
 *
 * @throws {Error} when it does not
 */
export function expectFailure(command: readonly string[], showing: Showing = {}): void {
  const { status, stderr } = perform(command, showing);
  print(stderr, showing.show);
  if (status === 0) throw new Error(`${command.join(' ')} did not fail`);
}

/** Shows a command and what it prints, and returns how it ended. */
export function runAnyhow(command: readonly string[]): number {
  const { status, stdout } = perform(command, {});
  print(stdout);
  return status ?? 1;
}

/** Runs a command without showing it, and returns how it ended. */
export function statusOf(...command: readonly string[]): number {
  return start(command, {}).status ?? 1;
}

/** Runs a command without showing it, and returns what it prints. */
export function quietly(...command: readonly string[]): string {
  const { status, stdout, stderr } = start(command, {});
  if (status !== 0) throw new Error(`${command.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}

/** What `buildCommand` has made. */
const COMMAND = 'build/heddle/lib/heddle.js';

function perform(command: readonly string[], { env = {} }: Showing): SpawnSyncReturns<string> {
  const assignments = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  console.log(styleText('cyan', `  $ ${[...assignments, ...command].join(' ')}`));
  return start(command, env);
}

function start(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): SpawnSyncReturns<string> {
  const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const;
  if (program !== 'heddle') return spawnSync(program, args, options);
  return spawnSync(process.execPath, [resolve(COMMAND), ...args], options);
}

function print(text: string, show?: (line: string) => boolean): void {
  for (const line of text.split('\n').filter((each) => each !== '')) {
    if (show === undefined) console.log(`    ${line}`);
    else if (show(line)) console.log(`    ${line.trim().replace(/,$/, '')}`);
  }
}
