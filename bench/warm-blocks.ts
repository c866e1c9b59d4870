/**
 * Many ADDs of routed pods on one node, whose addresses come from blocks that the node has already: a real kernel, an agent
 * that is a node of a cluster, its client, the driver of `heddle bench`. Beside it, in turns, bridge and host-local through
 * an agent and the same client; then as many routed pods at the same time as are asked for.
 *
 *   node --conditions=source bench/warm-blocks.ts [OPTION…]
 *
 *   --adds N      so many ADDs of each, in turns of 50 pods that are taken down again; default 10,000
 *   --living N    so many routed pods at the same time; default 4,000
 *   --profile     takes profiles: of both agents while the second half of the ADDs is made, and of the routed pods' agent
 *                 while the second half of those that live is attached
 *
 * Prints what callers waited for an ADD, and what it took the agent's process, thousand by thousand. Only routed pods are
 * left living: a bridge has no more than 1,023 ports.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { type Attempt, DEFAULT_WORKLOAD, quantile, ratioOfMedians, Site, seeded } from '@heddle/bench';
import type { NetworkConfigList } from '@heddle/cni';
import { agentTime, residentBytes } from './agent-process.ts';
import { beginProfiles, endProfiles, profiling } from './agent-profile.ts';
import { nodeReady, withNode } from './cluster-site.ts';
import { type Lane, lanes, serveBefore, withAgent } from './lanes.ts';
import { BRIDGE, ROUTED } from './networks.ts';
import { table } from './page.ts';

const { values } = parseArgs({
  options: {
    adds: { type: 'string', default: '10000' },
    living: { type: 'string', default: '4000' },
    profile: { type: 'boolean', default: false },
  },
});
const [adds, living] = [Number(values.adds), Number(values.living)];
/** In one turn; and for how many there is a row. */
const TURN = 50;
const ROW = 1_000;

/** What a thousand ADDs took; milliseconds, one figure for each ADD, or for each turn's mean. */
interface Thousand {
  readonly waits: number[];
  readonly thread: number[];
}

await using stack = new AsyncDisposableStack();
const { client } = lanes();
const routed = stack.use(await open(client, ROUTED));
const bridged = stack.use(await open(client, BRIDGE));
const sites = new Map([
  ['routed', routed],
  ['bridged', bridged],
]);
await nodeReady(routed);
for (const site of sites.values()) await serveBefore(site);
const before = loadavg()[0] ?? 0;
await inTurns();
await allAtATime();
console.log(`load ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`);

async function inTurns(): Promise<void> {
  const sides = [];
  for (const site of sites.values()) {
    sides.push({ site, pods: await site.pods.make(TURN), thousands: [] as Thousand[] });
  }
  const turns = Math.ceil(adds / TURN);
  for (let turn = 0; turn < turns; turn++) {
    if (values.profile && turn === turns >> 1) await beginProfiles([...sites.values()]);
    for (const { site, pods, thousands } of turn % 2 === 0 ? sides : sides.toReversed()) {
      count(thousands, turn * TURN, await add(site, pods));
      await site.run('DEL', pods, { parallel: 8, probes: [] });
    }
  }
  if (values.profile) await endProfiles(sites, 'cpu');
  const [ours = [], theirs = []] = sides.map(({ thousands }) => thousands);
  console.log(
    `\n${turns * TURN} ADDs of each, one at a time, ${TURN} of one and then ${TURN} of the other\n`,
  );
  console.log(
    table(
      [
        'ADDs',
        `${ROUTED.name}, ms`,
        `${BRIDGE.name}, ms`,
        'as a multiple',
        "agent's thread, ms",
        "its agent's",
      ],
      ours.map((each, row) => {
        const other = theirs[row] ?? { waits: [], thread: [] };
        const { ratio, low, high } = ratioOfMedians(each.waits, other.waits, { random: seeded(1) });
        return [
          rowName(row, turns * TURN),
          ...[middle(each.waits), middle(other.waits)],
          `${ratio.toFixed(2)} (${low.toFixed(2)} - ${high.toFixed(2)})`,
          ...[middle(each.thread), middle(other.thread)],
        ];
      }),
    ),
  );
}

async function allAtATime(): Promise<void> {
  const thousands: Thousand[] = [];
  const memory: string[] = [];
  const began = residentBytes(routed);
  for (let attached = 0; attached < living; attached += TURN) {
    if (values.profile && attached === (living >> 1) - ((living >> 1) % TURN)) await beginProfiles([routed]);
    count(thousands, attached, await add(routed, await routed.pods.make(TURN)));
    memory[Math.floor(attached / ROW)] = mebibytes(residentBytes(routed));
  }
  if (values.profile) await endProfiles(new Map([['living', routed]]), 'cpu');
  console.log(`\n${living} routed pods at the same time; the agent had ${mebibytes(began)} before\n`);
  console.log(
    table(
      ['ADDs', 'ms', "agent's thread, ms", "agent's memory after"],
      thousands.map(({ waits, thread }, row) => [
        rowName(row, living),
        ...[middle(waits), middle(thread)],
        memory[row] ?? '',
      ]),
    ),
  );
}

async function add(site: Site, pods: readonly Attempt['pod'][]): Promise<Thousand> {
  const began = agentTime(site);
  const { attempts } = await site.run('ADD', pods, { parallel: 1, probes: [] });
  const ended = agentTime(site);
  const failed = attempts.find(({ failure }) => failure !== undefined);
  if (failed !== undefined) throw new Error(`${site.list.name}: ${failed.failure}`);
  return {
    waits: attempts.map(({ milliseconds }) => milliseconds),
    thread: [(ended.thread - began.thread) / pods.length],
  };
}

function count(thousands: Thousand[], first: number, some: Thousand): void {
  const row = Math.floor(first / ROW);
  thousands[row] ??= { waits: [], thread: [] };
  for (const key of ['waits', 'thread'] as const) thousands[row][key].push(...some[key]);
}

async function open(lane: Lane, list: NetworkConfigList): Promise<Site> {
  const contender = withAgent(lane);
  const { option, env } = profiling('cpu');
  const { agent } = contender;
  const profiled =
    agent && values.profile
      ? { ...contender, agent: { ...agent, env: { ...agent.env, ...env, NODE_OPTIONS: option } } }
      : contender;
  return await Site.open(list === ROUTED ? withNode(profiled) : profiled, list, {
    ports: 0,
    patience: { call: DEFAULT_WORKLOAD.callPatience, packet: DEFAULT_WORKLOAD.packetPatience },
  });
}

function rowName(row: number, end: number): string {
  return `${row * ROW + 1} - ${Math.min((row + 1) * ROW, end)}`;
}

/** The median, and the middle half. */
function middle(values: readonly number[]): string {
  const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(values, share).toFixed(2));
  return `${median} (${low} - ${high})`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}
