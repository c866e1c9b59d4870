/** How the agent is, in figures. */
import type { NodeStatus } from '../node/node-status.ts';
import type { CallCounts, Figures } from './figures.ts';
import { total } from './figures.ts';

/** Calls of one command, or of one command to one plugin. All times in milliseconds. */
export interface CallFigures {
  readonly done: number;
  /** Of these, how many ended in an error. */
  readonly failed: number;
  /** What all of them took together. */
  readonly milliseconds: number;
  /** Half of them took no longer. */
  readonly p50: number;
  /** 99 of a hundred took no longer. */
  readonly p99: number;
}

/** Calls of one command. */
export interface CommandFigures extends Omit<CallFigures, 'p50' | 'p99'> {
  readonly plugins: Readonly<Record<string, CallFigures>>;
}

/** What the agent says of itself. */
export interface AgentStatus {
  readonly version: string;
  readonly pid: number;
  /** When it began: an ISO date. */
  readonly since: string;
  /** Where it listens; null for a socket that it was handed. */
  readonly socket: string | null;
  readonly calls: Readonly<Record<string, CommandFigures>>;
  /** How many calls failed, by CNI error code. */
  readonly errors: Readonly<Record<string, number>>;
  /** Calls that were left to their callers. */
  readonly declined: number;
  /** DELs that were done from the queue. */
  readonly replayed: number;
  /** Clients that were dropped, and whatever else went wrong. */
  readonly troubles: number;
  /** Clients that are served now. */
  readonly clients: number;
  /** Callers in the queue of the socket; null where the kernel does not tell. */
  readonly waitingCallers: number | null;
  /** Of the clients, how many wait for the turn of their attachment. */
  readonly waitingForTurn: number;
  readonly waitingDels: number;
  /** Resident bytes. */
  readonly memory: number;
  /** Seconds of processor time. */
  readonly cpu: number;
  /** The node of a cluster that the agent is; null for one that is none. */
  readonly node: NodeStatus | null;
}

/** The part of a status that is counted. */
export function countedStatus(
  figures: Figures,
): Pick<AgentStatus, 'calls' | 'errors' | 'declined' | 'replayed' | 'troubles'> {
  const calls = [...figures.calls];
  const commands = [...new Set(calls.map(({ command }) => command))];
  const errors: Record<string, number> = {};
  for (const [code, count] of calls.flatMap((call) => [...call.errors])) {
    errors[code] = (errors[code] ?? 0) + count;
  }
  return {
    calls: Object.fromEntries(
      commands.map((command) => [command, commandFigures(calls.filter((call) => call.command === command))]),
    ),
    errors,
    declined: total(figures.declined),
    replayed: total(figures.replayed),
    troubles: total(figures.troubles),
  };
}

function commandFigures(calls: readonly CallCounts[]): CommandFigures {
  const plugins = Object.fromEntries(calls.map((call) => [call.plugin, callFigures(call)]));
  const sum = (what: 'done' | 'failed' | 'milliseconds') =>
    Object.values(plugins).reduce((so, each) => so + each[what], 0);
  return { done: sum('done'), failed: sum('failed'), milliseconds: sum('milliseconds'), plugins };
}

function callFigures({ latency, errors }: CallCounts): CallFigures {
  return {
    done: latency.count,
    failed: total(errors),
    milliseconds: latency.sum,
    p50: latency.quantile(0.5),
    p99: latency.quantile(0.99),
  };
}
