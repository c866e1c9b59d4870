/** What an agent takes of a node that it has filled. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULT_WORKLOAD, Site } from '@heddle/bench';
import { agentProcess, residentBytes } from './agent-process.ts';
import { type Lane, withAgent } from './lanes.ts';
import { FULL_CHAIN } from './networks.ts';

/** An agent's measures. */
export interface Footprint {
  readonly attachments: number;
  /** Resident bytes before anybody called, and with all attachments. */
  readonly before: number;
  readonly after: number;
  /** Milliseconds of processor time while nobody called, in so many milliseconds. */
  readonly busy: number;
  readonly idle: number;
}

/** Attaches pods, and looks at the agent while it has nothing to do. */
export async function footprint(client: Lane, attachments: number): Promise<Footprint> {
  await using site = await Site.open(withAgent(client), FULL_CHAIN, {
    ports: 2,
    patience: { call: DEFAULT_WORKLOAD.callPatience, packet: DEFAULT_WORKLOAD.packetPatience },
  });
  const before = residentBytes(site);
  const { attempts } = await site.run('ADD', await site.pods.make(attachments), { parallel: 8, probes: [] });
  const failed = attempts.find(({ failure }) => failure !== undefined);
  if (failed !== undefined) throw new Error(`footprint: ${failed.failure}`);
  await pause(SETTLE);
  const after = residentBytes(site);
  const process = agentProcess(site);
  const began = busyMilliseconds(process);
  await pause(IDLE);
  return { attachments, before, after, busy: busyMilliseconds(process) - began, idle: IDLE };
}

/** What the last calls have left to do, the collection of their garbage included, is none of an idle agent's. */
const SETTLE = 12_000;
const IDLE = 8000;

/** The kernel counts it in hundredths of a second. */
function busyMilliseconds(process: string): number {
  const stat = readFileSync(join(process, 'stat'), 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
