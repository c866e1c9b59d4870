/**
 * Whole chains in one request to the agent, where one serves here and all of the chain's plugins are its own. In every
 * other case, and for whatever the agent leaves, plugins run as without it.
 */
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { CNI_CODE, CniError } from '../index.ts';
import { outcomesAsExec } from './chain.ts';
import { chainBytes, readOutcomes } from './chain-message.ts';
import { handOver } from './hand-over.ts';
import { HANDOVER_FLAG } from './handover.ts';
import type { ChainRun, PluginExec } from './plugin-exec.ts';

/** Where the agent is, and what to do without it. */
export interface AgentExecOptions {
  /** The path of its socket. */
  readonly socket: string;
  readonly otherwise: PluginExec;
  /** Milliseconds that an answer may take. Default 60,000, as the client has it. */
  readonly patience?: number;
}

/**
 * Runs plugins through the agent.
 *
 * @example
 * const exec = agentExec({ socket: '/run/heddle/agent.sock', otherwise: systemExec() });
 * const runtime = new Runtime({ path: ['/opt/cni/bin'], env: process.env, exec });
 */
export function agentExec({ socket, otherwise, patience = 60_000 }: AgentExecOptions): PluginExec {
  return {
    find: (type, path) => otherwise.find(type, path),
    run: (run) => otherwise.run(run),
    async ahead(chain) {
      const [first] = chain.runs;
      if (first === undefined || !chain.runs.every(({ path }) => isOwn(path))) return otherwise;
      const { type, path: program, env } = first;
      const call = { type, program, env, flags: HANDOVER_FLAG.CHAIN, stdin: chainBytes(chain) };
      const answer = await handOver(call, { socket, patience, signal: chain.signal });
      if (answer === 'not taken' || (answer !== 'lost' && answer.verdict === 'declined')) return otherwise;
      if (answer !== 'lost') return outcomesAsExec(readOutcomes(answer.outcome.stdout), otherwise);
      // It may have begun. An ADD that is made anew could find what it has left; all else can be done twice.
      return env['CNI_COMMAND'] === 'ADD' ? refusing(chain, otherwise) : otherwise;
    },
  };
}

/** Whether it is the program or the client of an installation of Heddle. */
function isOwn(path: string): boolean {
  try {
    return OWN.includes(basename(realpathSync(path)));
  } catch {
    return false;
  }
}

const OWN: readonly string[] = ['heddle-shim', 'heddle-cni'];

function refusing({ signal }: ChainRun, otherwise: PluginExec): PluginExec {
  return {
    find: otherwise.find,
    async run({ type }) {
      const why = signal?.aborted ? String(signal.reason) : 'try again later';
      throw new CniError(CNI_CODE.TRY_AGAIN, `${type}: the agent did not end this call: ${why}`);
    },
  };
}
