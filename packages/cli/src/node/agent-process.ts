/** The agent as a process that `heddle up` starts and `heddle down` ends. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type AgentStatus, agentPlace, askStatus } from '@heddle/agent';
import { makeDirectory } from '@heddle/sys';
import type { Cli } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';

/** The agent that serves, if one does. */
async function servingAgent({ env }: Pick<Cli, 'env'>): Promise<AgentStatus | undefined> {
  try {
    return await askStatus(agentPlace('socket', env));
  } catch {
    return undefined;
  }
}

/**
 * Starts an agent, and waits until the node can take pods. One that serves already hands over to it without a gap.
 *
 * @param program the `heddle` command and what goes before its arguments
 * @throws {CommandError} when it ends, with its last words; when it does not join in time, with what is in its way
 */
export async function startAgent(cli: Cli, program: readonly string[], config: string): Promise<AgentStatus> {
  const { agentLog, agentPid } = cli.places;
  for (const file of [agentLog, agentPid]) makeDirectory(dirname(file), 0o700);
  const log = openSync(agentLog, 'a', 0o600);
  const [command = '', ...args] = program;
  const agent = spawn(command, [...args, 'agent', '--node', config], {
    ...{ stdio: ['ignore', log, log], detached: true, cwd: '/', env: cli.env },
  });
  closeSync(log);
  const ended = { how: undefined as string | undefined };
  agent.once('error', (error) => {
    ended.how = error.message;
  });
  agent.once('exit', (code, signal) => {
    ended.how = `it ended with ${signal ?? code}: ${lastLine(agentLog)}`;
  });
  writeFileSync(agentPid, `${agent.pid ?? ''}\n`, { mode: 0o600 });
  let last: AgentStatus | undefined;
  for (let waited = 0; waited < PATIENCE; waited += STEP) {
    if (ended.how !== undefined) throw new CommandError(EXIT.FAILED, `start the agent: ${ended.how}`);
    const serving = await servingAgent(cli);
    if (serving !== undefined && serving.pid === agent.pid && serving.node?.ready === true) {
      agent.unref();
      return serving;
    }
    last = serving ?? last;
    await pause(STEP);
  }
  agent.unref();
  const why = last?.node?.reason ?? 'it does not answer';
  throw new CommandError(EXIT.FAILED, `the agent runs, but the node has not joined: ${why}`, {
    hint: `it keeps trying; ${last?.node?.hint ?? `${agentLog} has what it says`}`,
  });
}

/** Ends the agent, and waits until it has ended its calls. @returns whether there was one */
export async function stopAgent(cli: Cli): Promise<boolean> {
  const pid = (await servingAgent(cli))?.pid ?? startedAgent(cli);
  if (pid === undefined) return false;
  signal(pid, 'SIGTERM');
  for (let waited = 0; signal(pid, 0); waited += STEP) {
    if (waited > PATIENCE) throw new CommandError(EXIT.FAILED, `the agent, process ${pid}, does not end`);
    await pause(STEP);
  }
  rmSync(cli.places.agentPid, { force: true });
  return true;
}

const STEP = 50;
const PATIENCE = 60_000;

/** The process that `up` started, if it is still there and still an agent. */
function startedAgent({ places: { agentPid } }: Pick<Cli, 'places'>): number | undefined {
  if (!existsSync(agentPid)) return undefined;
  const pid = Number(readFileSync(agentPid, 'utf8'));
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return line.includes('agent') && line.includes('--node') ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Whether there is such a process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

function lastLine(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '';
}
