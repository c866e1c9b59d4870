import { spawnSync } from 'node:child_process';

/** Where a program finds this package. */
export const entry: string = new URL('../index.ts', import.meta.url).href;

/** How a program ended, and what it printed. */
export interface ProgramResult {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
}

/** Runs a program in a Node.js of its own, started as this one was, optionally through another command. */
export function runProgram(source: string, through: readonly string[] = []): ProgramResult {
  const flags = process.execArgv.filter((flag) => !flag.startsWith('--test'));
  const [command = process.execPath, ...words] = [
    ...through,
    process.execPath,
    ...flags,
    '--input-type=module',
    '-e',
    source,
  ];
  const { status, signal, stdout } = spawnSync(command, words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { status, signal, stdout };
}
