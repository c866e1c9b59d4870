/**
 * The other lane of a test run: with HEDDLE_TEST_LANE=agent each test node has an agent of its own, and plugin
 * directories hold the client that hands calls over to it.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type NetnsHandle, runInNetns } from '@heddle/sys';
import { buildCommand } from '../../scripts/build-command.ts';

/** Whether this run goes through agents. */
export const THROUGH_AGENT = process.env['HEDDLE_TEST_LANE'] === 'agent';

/** An agent that was started. */
export interface StartedAgent extends Disposable {
  readonly pid: number;
  /** Whether its process has ended. */
  readonly hasEnded: boolean;
}

/**
 * Starts an agent in a namespace, as it is delivered. Programs that this process starts from now on find it, those in other namespaces
 * are sent away by it and work as without it.
 *
 * @param directory gets its socket, its log, and the DELs that wait for it
 */
export function startAgent(netns: NetnsHandle, directory: string): StartedAgent {
  const socket = join(directory, 'agent.sock');
  process.env['HEDDLE_AGENT_SOCKET'] = socket;
  process.env['HEDDLE_AGENT_QUEUE'] = join(directory, 'agent-queue');
  buildCommand();
  const log = openSync(join(directory, 'agent.log'), 'a');
  const child = runInNetns(netns, () =>
    spawn(resolve('bin/heddle'), ['agent'], { stdio: ['ignore', log, log] }),
  );
  closeSync(log);
  child.unref();
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  child.on('exit', () => process.off('exit', kill));
  waitFor(socket);
  return {
    pid: child.pid ?? 0,
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    [Symbol.dispose]: () => void kill(),
  };
}

function waitFor(path: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; !existsSync(path); waited += 10) {
    if (waited > 60_000) throw new Error(`no agent came up at ${path}`);
    Atomics.wait(pause, 0, 0, 10);
  }
}
