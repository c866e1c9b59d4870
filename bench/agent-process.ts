/** What a site's agent has used, as its process says. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Site } from '@heddle/bench';

/** Milliseconds on a processor since it began: of the thread that runs JavaScript, and of all threads. */
export interface AgentTime {
  readonly thread: number;
  readonly all: number;
}

/** See {@link AgentTime}. */
export function agentTime(site: Site): AgentTime {
  const tasks = join(agentProcess(site), 'task');
  const busy = (task: string) =>
    Number(readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ')[0]) / 1e6;
  return {
    thread: busy(String(site.agent)),
    all: readdirSync(tasks).reduce((sum, task) => sum + busy(task), 0),
  };
}

/** Bytes that it has in memory. */
export function residentBytes(site: Site): number {
  const status = readFileSync(join(agentProcess(site), 'status'), 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** Its directory below `/proc`. */
export function agentProcess({ node, agent }: Site): string {
  return join(node.root, 'proc', String(agent));
}
