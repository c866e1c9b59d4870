/** Private network namespaces for tests against the real kernel, and the tools that check it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createNetns, type NetnsHandle, runInNetns } from '@heddle/sys';
import { type KernelSession, openSession } from '../session/session.ts';

/** A fresh namespace with a session in it. Both end with it. */
export interface Lab extends Disposable {
  readonly netns: NetnsHandle;
  readonly session: KernelSession;
  /** Runs a command inside and gives what it prints. */
  run(command: string, ...args: readonly string[]): string;
  /** Runs `ip -j`, `bridge -j` or `tc -j` inside and gives what it prints. */
  json(command: 'ip' | 'bridge' | 'tc', ...args: readonly string[]): Record<string, unknown>[];
}

/** Makes a namespace that nothing else uses. */
export function openLab(mode: 'sync' | 'threaded' = 'sync'): Lab {
  const netns = createNetns();
  const session = openSession({ netns, mode });
  const run = (command: string, ...args: readonly string[]) => {
    const { status, stdout, stderr, error } = runInNetns(netns, () =>
      spawnSync(command, args, { encoding: 'utf8' }),
    );
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
    return stdout;
  };
  return {
    netns,
    session,
    run,
    json: (command, ...args) => JSON.parse(run(command, '-d', '-j', ...args) || '[]'),
    [Symbol.dispose]() {
      session[Symbol.dispose]();
      netns.close();
    },
  };
}

/** The only element of a list. */
export function only<T>(list: readonly T[]): T {
  const [first, ...others] = list;
  assert.ok(first !== undefined && others.length === 0, `one is expected, not ${list.length}`);
  return first;
}
