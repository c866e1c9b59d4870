/**
 * What calls cost an agent: processor time of its threads, bytes that its JavaScript allocates, and how long callers wait.
 * Several agents are measured in turns, so that a busy moment of the machine falls on all of them. On a machine that does
 * other things, `chrt -f 40` before it keeps those from taking turns of the callers and the agents.
 *
 *   node --conditions=source bench/agent-cost.ts [OPTION…] NAME=BUNDLE[,FLAG…]…
 *
 *   --network bridge|chain    default bridge
 *   --pairs N                 ADD and DEL of so many pods, default 500
 *   --parallel N              pods at a time, default 1
 *   --attached N              further pods that are attached all the time, default 0
 *   --profile cpu|heap        also takes a profile of the second half of the calls
 *
 * BUNDLE is a heddle.js that was built (build/heddle/lib/heddle.js, or a copy of the directory from before a change), FLAG
 * an option of Node.js in place of those of bin/heddle.
 */
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Attempt, DEFAULT_WORKLOAD, quantile, Site } from '@heddle/bench';
import { installClient } from '../test/support/plugin-directory.ts';
import { agentProcess, agentTime, residentBytes } from './agent-process.ts';
import { beginProfiles, endProfiles, profiling } from './agent-profile.ts';
import { BRIDGE, FULL_CHAIN } from './networks.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    network: { type: 'string', default: 'bridge' },
    pairs: { type: 'string', default: '500' },
    parallel: { type: 'string', default: '1' },
    attached: { type: 'string', default: '0' },
    profile: { type: 'string' },
  },
});
type Pod = Attempt['pod'];

const PODS = 25;
const BLOCKS = 3;
const VERBS = ['ADD', 'DEL'] as const;
/** As in bin/heddle. */
const USUAL_FLAGS = ['--min-semi-space-size=2', '--max-semi-space-size=2', '--memory-saver-mode'];

/** What an agent has used since it began. */
interface Use {
  /** Milliseconds, as in `AgentTime`. */
  readonly thread: number;
  readonly all: number;
  /** Ticks of a hundredth of a second of all threads. */
  readonly user: number;
  readonly system: number;
  readonly switches: number;
  readonly allocated: number;
  readonly collections: number;
}

/** Pods of one verb in one turn. */
interface Turn {
  readonly use: Use;
  /** Milliseconds from the start of a pod's first client to the end of its last, each. */
  readonly waits: readonly number[];
}

const kind = values.profile === 'heap' ? 'heap' : 'cpu';
const parallel = Number(values.parallel);
const list = values.network === 'chain' ? FULL_CHAIN : BRIDGE;
await using stack = new AsyncDisposableStack();
const client = resolve(`build/bench/cost-client.${process.pid}`);
installClient(client);
stack.defer(() => rmSync(client, { recursive: true, force: true }));
const sides: { name: string; site: Site; pods: readonly Pod[]; blocks: Turn[][][] }[] = [];
for (const side of positionals) {
  const [name = '', rest = ''] = side.split(/=(.*)/s);
  const [bundle = '', ...flags] = rest.split(',');
  const site = stack.use(await open(name, resolve(bundle), flags.length === 0 ? USUAL_FLAGS : flags));
  const blocks = Array.from({ length: BLOCKS }, () => VERBS.map((): Turn[] => []));
  const further = await site.pods.make(Number(values.attached));
  await site.run('ADD', further, { parallel: 4, probes: [] });
  sides.push({ name, site, pods: await site.pods.make(PODS), blocks });
}
const rounds = Math.ceil(Number(values.pairs) / PODS);
for (let round = 0; round < rounds; round++) {
  if (values.profile !== undefined && round === Math.floor(rounds / 2)) {
    await beginProfiles(sides.map(({ site }) => site));
  }
  for (let turn = 0; turn < sides.length; turn++) {
    const { site, pods, blocks } = sides[(turn + round) % sides.length] as (typeof sides)[number];
    const block = blocks[Math.floor((round * BLOCKS) / rounds)] ?? [];
    for (const verb of VERBS) {
      const before = useOf(site);
      const { attempts } = await site.run(verb, pods, { parallel, probes: [] });
      const failed = attempts.find(({ failure }) => failure !== undefined);
      if (failed !== undefined) throw new Error(`${verb}: ${failed.failure}`);
      const after = useOf(site);
      const waits = attempts.map(({ milliseconds }) => milliseconds);
      block[VERBS.indexOf(verb)]?.push({ use: difference(before, after), waits });
    }
  }
}
if (values.profile !== undefined) {
  await endProfiles(new Map(sides.map(({ name, site }) => [name, site])), kind);
}
console.log(
  `${values.network}, ${parallel} at a time; per pod, in the first, second … part of the calls: thread ms | all ms, lower quartiles and medians | KiB | collections | switches, means | callers' ms, best tenth, quartile, median`,
);
for (const { name, site, blocks } of sides) {
  for (const [index, verb] of VERBS.entries()) {
    const cells = blocks.map((block) => cell(block[index] ?? []));
    console.log(`${name.padEnd(12)} ${verb} ${cells.join('   ')}`);
  }
  console.log(`${name.padEnd(12)} resident ${(residentBytes(site) / 2 ** 20).toFixed(1)} MiB`);
}

async function open(name: string, bundle: string, flags: readonly string[]): Promise<Site> {
  const agent = {
    program: resolve('node_modules/.bin/node'),
    args: [
      ...flags,
      '--trace-gc',
      ...(values.profile === undefined ? [] : [profiling(kind).option]),
      ...[bundle, 'agent', '--log-level', 'error'],
    ],
    env: {
      ...{ PATH: '/usr/sbin:/usr/bin:/sbin:/bin', MALLOC_ARENA_MAX: '1' },
      ...(values.profile !== undefined && profiling(kind).env),
    },
    needs: [resolve('.'), dirname(bundle)],
    readyPath: '/run/heddle/agent.sock',
  };
  return await Site.open({ name, directory: client, agent }, list, {
    ports: 2,
    patience: { call: DEFAULT_WORKLOAD.callPatience, packet: DEFAULT_WORKLOAD.packetPatience },
  });
}

function useOf(site: Site): Use {
  const process = agentProcess(site);
  const stat = readFileSync(join(process, 'stat'), 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(join(process, 'task', String(site.agent), 'status'), 'utf8');
  return {
    ...agentTime(site),
    user: Number(fields[11]),
    system: Number(fields[12]),
    switches: Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]),
    ...garbageOf(site),
  };
}

/** What each collection found beyond what the one before it had left. What was allocated since the last is not told yet. */
function garbageOf({ node }: Site): Pick<Use, 'allocated' | 'collections'> {
  const log = readFileSync(join(node.root, 'run/service.log'), 'utf8');
  let allocated = 0;
  let left: number | undefined;
  let collections = 0;
  for (const [, before, after] of log.matchAll(/ ([\d.]+) \([\d.]+\) -> ([\d.]+) \([\d.]+\) MB/g)) {
    allocated += Math.max(0, Number(before) - (left ?? Number(before)));
    left = Number(after);
    collections++;
  }
  return { allocated: allocated * 1024, collections };
}

function difference(before: Use, after: Use): Use {
  const entries = Object.entries(after) as [keyof Use, number][];
  return Object.fromEntries(entries.map(([key, value]) => [key, value - before[key]])) as unknown as Use;
}

function cell(turns: readonly Turn[]): string {
  const uses = turns.map(({ use }) => use);
  const waits = turns.flatMap((turn) => turn.waits);
  const mean = (key: keyof Use) =>
    uses.reduce((sum, each) => sum + each[key], 0) / Math.max(1, uses.length * PODS);
  const system = mean('system') / Math.max(1e-9, mean('user') + mean('system'));
  return [
    milliseconds(uses, 'thread'),
    `${milliseconds(uses, 'all')} (${(100 * system).toFixed(0)} % system)`,
    mean('allocated').toFixed(0),
    mean('collections').toFixed(2),
    mean('switches').toFixed(1),
    [0.1, 0.25, 0.5].map((at) => quantile(waits, at).toFixed(2)).join('-'),
  ].join(' | ');
}

/** The lower quartile and the median of a pod's share: other work on the machine makes each figure larger, never smaller. */
function milliseconds(uses: readonly Use[], key: 'thread' | 'all'): string {
  const each = uses.map((use) => use[key] / PODS);
  return `${quantile(each, 0.25).toFixed(2)}-${quantile(each, 0.5).toFixed(2)}`;
}
