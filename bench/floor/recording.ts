/** Records what the agent says to the kernel for each of so many pods, for `floor.c` to say again. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULT_WORKLOAD, Site, type Verb } from '@heddle/bench';
import type { NetworkConfigList } from '@heddle/cni';
import { buildStatic } from '../../scripts/static-program.ts';
import { type Lane, withAgent } from '../lanes.ts';
import { type Exchange, STRACE_ARGS, Trace } from './trace.ts';

/** What was recorded. */
export interface Recording {
  /** A directory of plugins: the floor's program, and what it says for each pod. */
  readonly directory: string;
  /** What an ADD of a pod on a node in use says. */
  readonly add: Exchange;
  /** The same of its DEL. */
  readonly del: Exchange;
}

/**
 * Attaches and detaches pods, one after the other, with an agent that strace looks at. A measurement that attaches pods
 * of the same names in the same order, on a node of its own, can replay it: names, addresses and indexes are the same.
 *
 * @param client the agent's client
 */
export async function record(client: Lane, list: NetworkConfigList, pods: number): Promise<Recording> {
  const directory = resolve('build/bench/floor');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const program = buildStatic('build/bench/heddle-floor', { directory: 'bench/floor' });
  for (const { type } of list.plugins)
    writeFileSync(join(directory, type), readFileSync(program), { mode: 0o755 });
  writeFileSync(join(directory, 'host-local'), readFileSync(program), { mode: 0o755 });
  const { agent } = withAgent(client);
  if (agent === undefined) throw new Error(`${client.name} has no agent`);
  const traced = {
    ...agent,
    program: '/usr/bin/strace',
    args: [...STRACE_ARGS, `--output=${NOTES}`, agent.program, ...agent.args],
  };
  await using site = await Site.open({ ...client, agent: traced }, list, {
    ports: 0,
    patience: { call: DEFAULT_WORKLOAD.callPatience, packet: DEFAULT_WORKLOAD.packetPatience },
  });
  const trace = new Trace();
  const notes = join(site.node.root, NOTES);
  let read = 0;
  const next = async (): Promise<Exchange> => {
    // The last of it is written when the answer is out already.
    await pause(SETTLE);
    const all = readFileSync(notes, 'latin1');
    const exchange = trace.read(all.slice(read));
    read = all.length;
    return exchange;
  };
  await next();
  let last: { add: Exchange; del: Exchange } | undefined;
  for (let made = 0; made < pods; made++) {
    const made1 = await site.pods.make(1);
    const exchanges: Partial<Record<Verb, Exchange>> = {};
    for (const verb of ['ADD', 'CHECK', 'DEL'] as const) {
      const { attempts } = await site.run(verb, made1, { parallel: 1, probes: [] });
      const [attempt] = attempts;
      if (attempt === undefined || attempt.failure !== undefined)
        throw new Error(`record: ${attempt?.failure}`);
      const exchange = await next();
      exchanges[verb] = exchange;
      const said = attempt.outcome.steps[0]?.stdout ?? '';
      writeFileSync(join(directory, `${attempt.pod.containerID}.${verb}`), linesOf(exchange) + said);
    }
    last = { add: exchanges.ADD as Exchange, del: exchanges.DEL as Exchange };
  }
  if (last === undefined) throw new Error('there is nothing to record');
  return { directory, ...last };
}

const NOTES = '/run/agent.trace';
/** Milliseconds. */
const SETTLE = 40;

function linesOf({ sent, netns }: Exchange): string {
  return [
    ...netns.map((number) => `netns ${number}\n`),
    ...sent.map(({ where, bytes }) => `${where} ${bytes.toString('hex')}\n`),
  ].join('');
}
