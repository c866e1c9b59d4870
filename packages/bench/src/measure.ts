/** Measures contenders on one network, in turns, so that a busy moment of the machine falls on all of them. */
import { setTimeout as pause } from 'node:timers/promises';
import type { NetworkConfigList } from '@heddle/cni';
import { BenchError } from './bench-error.ts';
import { calledPlugins, type Pod, type Verb } from './calls.ts';
import type { Contender } from './contender.ts';
import { fill } from './fill.ts';
import type { NetworkReport } from './report.ts';
import { gatewaysOf, Site } from './site.ts';
import { Tally } from './tally.ts';
import { checkWorkload, verbsFor, type Workload } from './workload.ts';

/** What a measurement needs of its surroundings. */
export interface MeasureOptions {
  /** Numbers from 0 to below 1, for the bootstrap. */
  readonly random: () => number;
  /** Told what is being done. */
  readonly onProgress?: (what: string) => void;
}

/** A contender on a network. */
export interface Entry {
  readonly contender: Contender;
  /** What is on its node, in place of the workload's. */
  readonly fill?: Workload['fill'];
  /** Done before the first round, besides that. */
  readonly prepare?: (site: Site) => Promise<void>;
}

/**
 * Measures.
 *
 * @param entries the first is what the others are compared with
 * @throws {BenchError} when a contender lacks a plugin, cannot attach a single pod, or the workload cannot be had
 */
export async function measureNetwork(
  list: NetworkConfigList,
  entries: readonly Entry[],
  workload: Workload,
  { random, onProgress = () => {} }: MeasureOptions,
): Promise<NetworkReport> {
  checkWorkload(list, workload);
  await using stack = new AsyncDisposableStack();
  const patience = { call: workload.callPatience, packet: workload.packetPatience };
  const sites: Site[] = [];
  for (const { contender } of entries) {
    onProgress(`${list.name}: set up ${contender.name}`);
    sites.push(stack.use(await Site.open(contender, list, { ports: workload.ports, patience })));
  }
  const { probes, notes } = await findProbes(sites);
  for (const [index, site] of sites.entries()) {
    onProgress(`${list.name}: fill the node of ${site.contender.name}`);
    const { fill: own, prepare } = entries[index] ?? {};
    await fill(site, own ?? workload.fill, workload.parallel);
    await prepare?.(site);
  }
  const verbs = verbsFor(list, workload);
  const tallies = await runRounds({ sites, verbs, workload, probes, onProgress });
  return {
    network: list.name,
    chain: list.plugins.map(({ type }) => type),
    ...{ probes, notes },
    contenders: await Promise.all(
      sites.map(async (site) => ({
        name: site.contender.name,
        directory: site.contender.directory,
        hasAgent: site.agent !== undefined,
        versions: await site.versions(),
      })),
    ),
    measurements: verbs.flatMap((verb) => {
      const [first, ...others] = tallies.get(verb) ?? [];
      return first === undefined ? [] : [first, ...others].map((tally) => tally.measurement(first, random));
    }),
  };
}

/**
 * Attaches a pod of each contender, and finds out which gateways answer: those must hear of every pod from then on.
 * A gateway that no contender's pod can reach is none of the node, and cannot be asked for.
 */
async function findProbes(
  sites: readonly Site[],
): Promise<{ readonly probes: readonly string[]; readonly notes: readonly string[] }> {
  const answering = new Set<string>();
  const silent = new Set<string>();
  for (const site of sites) {
    const first = await site.pods.make(1);
    const gateways = gatewaysOf((await attachOne(site, first)).result);
    await site.run('DEL', first, { parallel: 1, probes: [] });
    const second = await site.pods.make(1);
    const trial = await site.run('ADD', second, { parallel: 1, probes: gateways });
    await site.run('DEL', second, { parallel: 1, probes: [] });
    trial.attempts[0]?.outcome.arrivals.forEach((arrival, index) => {
      ('lost' in arrival ? silent : answering).add(gateways[index] ?? '');
    });
  }
  const unasked = [...silent].filter((gateway) => !answering.has(gateway));
  return {
    probes: [...answering],
    notes: [
      ...unasked.map((gateway) => `no contender's first packet reached ${gateway}: it is not asked for`),
      ...(answering.size === 0
        ? ["an attachment counts without a packet's arrival: there is no gateway on the node"]
        : []),
    ],
  };
}

async function attachOne(site: Site, pods: readonly Pod[]): Promise<Pod> {
  const { attempts } = await site.run('ADD', pods, { parallel: 1, probes: [] });
  const failure = attempts[0]?.failure;
  if (failure !== undefined) throw new BenchError('BENCH_FAILED', `${site.contender.name}: ADD: ${failure}`);
  return pods[0] as Pod;
}

async function runRounds({
  sites,
  verbs,
  workload: { rounds, warmup, batch, parallel },
  probes,
  onProgress,
}: {
  readonly sites: readonly Site[];
  readonly verbs: readonly Verb[];
  readonly workload: Workload;
  readonly probes: readonly string[];
  readonly onProgress: (what: string) => void;
}): Promise<ReadonlyMap<Verb, readonly Tally[]>> {
  const tallies = new Map(
    verbs.map((verb) => [
      verb,
      sites.map(({ contender, list }) => {
        const types = calledPlugins(list, verb).map(({ type }) => type);
        return new Tally(contender.name, verb, types);
      }),
    ]),
  );
  for (let round = -warmup; round < rounds; round++) {
    onProgress(`${sites[0]?.list.name}: round ${round + warmup + 1} of ${rounds + warmup}`);
    const pods = new Map<Site, readonly Pod[]>();
    for (const site of sites) pods.set(site, await site.pods.make(batch));
    for (const verb of verbs) {
      for (const [index, site] of rotated(sites, round + warmup)) {
        const done = await site.run(verb, pods.get(site) ?? [], { parallel, probes });
        if (round >= 0) tallies.get(verb)?.[index]?.count(done);
        await pause(SETTLE[verb]);
      }
    }
  }
  return tallies;
}

/** Milliseconds in which the kernel ends what it has begun: after a DEL, it still waits for readers of the interface. */
const SETTLE: Readonly<Record<Verb, number>> = { VERSION: 0, ADD: 10, CHECK: 0, DEL: 60 };

/** With their indexes, a different one first in each round. */
function rotated<T>(all: readonly T[], by: number): readonly (readonly [number, T])[] {
  const entries = [...all.entries()];
  const at = by % entries.length;
  return [...entries.slice(at), ...entries.slice(0, at)];
}
