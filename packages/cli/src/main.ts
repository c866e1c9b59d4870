#!/usr/bin/env node
/** The `heddle` command as a process: its arguments, its environment, its streams. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openSession } from '@heddle/netlink';
import { heddle } from './heddle.ts';
import { DEFAULT_PLACES, type SignalSource, type TextSink } from './surroundings.ts';

const signals: SignalSource = {
  listen(names, handle) {
    for (const name of names) process.on(name, handle);
    return {
      [Symbol.dispose]() {
        for (const name of names) process.off(name, handle);
      },
    };
  },
};

process.exitCode = await heddle(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  stdout: sink(process.stdout),
  stderr: sink(process.stderr),
  isInteractive: process.stdin.isTTY === true,
  isRoot: process.geteuid?.() === 0,
  places: {
    ...DEFAULT_PLACES,
    programDirs: [besides('build/plugins')],
    command: existsSync(besides('bin/heddle')) ? besides('bin/heddle') : undefined,
  },
  now: () => Date.now(),
  randomBytes,
  openHost: () => openSession(),
  signals,
});

/** A path in the checkout that this file is in. */
function besides(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

function sink(stream: NodeJS.WriteStream): TextSink {
  // Whoever reads has gone, as with `heddle ls | head`: nobody is left to be told.
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  return {
    write: (text) => void stream.write(text),
    isTerminal: stream.isTTY === true,
    isStyled: stream.isTTY === true && stream.hasColors(),
    columns: stream.isTTY === true ? stream.columns : undefined,
  };
}
