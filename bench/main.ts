/**
 * Measures this project's plugins against the reference's, in one run, in turns, and says which of its targets it meets.
 *
 *   make bench                  all of it, in less than ten minutes on an idle machine
 *   make bench BENCH_ROUNDS=4   a short one, to try out: few rounds, few pods
 *   make bench RECORD=1         keeps the results: bench/results.json, bench/floor/messages.md, docs/performance.md
 *
 * What was measured is in build/bench: results.json, results.md, and drawings.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  DEFAULT_WORKLOAD,
  type Entry,
  lookAround,
  measureNetwork,
  type NetworkReport,
  plotSvg,
  seeded,
  type Workload,
} from '@heddle/bench';
import type { NetworkConfigList } from '@heddle/cni';
import { audits } from './audit.ts';
import { listing } from './floor/listing.ts';
import { record } from './floor/recording.ts';
import { footprint } from './footprint.ts';
import { copyMappings } from './growth.ts';
import { lanes, serveBefore, withAgent } from './lanes.ts';
import { BRIDGE, FULL_CHAIN, OTHERS } from './networks.ts';
import { page, table } from './page.ts';
import { FLOOR, IN_USE, type Results, targetsOf } from './results.ts';

const USUAL_ROUNDS = 40;
const rounds = Number(process.env['BENCH_ROUNDS'] || USUAL_ROUNDS);
if (!Number.isSafeInteger(rounds) || rounds < 1)
  throw new Error('BENCH_ROUNDS must be a whole number, 1 or more');
/** A part that has its own size, in proportion. */
const scaled = (usual: number, least: number) =>
  Math.max(least, Math.ceil((usual * Math.min(rounds, USUAL_ROUNDS)) / USUAL_ROUNDS));

const all = lanes();
const { references, program, client } = all;
const surroundings = lookAround({ now: new Date(), version: versionOfHeddle(), checkout: resolve('.') });
const sides: readonly Entry[] = [...references, program].map((contender) => ({ contender }));
const resident: Entry = { contender: withAgent(client), prepare: serveBefore };
const out = resolve('build/bench');
const began = performance.now();

const warmup = 3;
// Besides its rounds, a measurement attaches two pods to find out which gateways answer.
const recording = await record(client, BRIDGE, rounds + warmup + 2);
const floor: Entry = { contender: { name: FLOOR, directory: recording.directory } };
const bridge = onlyAddOf(FLOOR, await measure(BRIDGE, [...sides, resident, floor], { rounds, warmup }));
const chain = await measure(FULL_CHAIN, [...sides, resident], { rounds: scaled(20, 2), warmup: 1, ports: 2 });
const others: NetworkReport[] = [];
for (const list of OTHERS) {
  others.push(await measure(list, [...sides, resident], { rounds: scaled(10, 2), warmup: 1 }));
}
const mass = await measure(FULL_CHAIN, [...references.map((contender) => ({ contender })), resident], {
  ...{ rounds: 1, warmup: 0, ports: 2, parallel: 32, batch: scaled(256, 32) },
  verbs: ['ADD', 'DEL'],
});
const growth = await measureGrowth();
const measured = {
  environment: surroundings.end(),
  ...{ rounds, bridge, chain, others, mass, growth },
  footprint: await footprint(client, scaled(500, 50)),
  audits: audits(rounds),
};
const results: Results = { ...measured, targets: targetsOf(measured, all) };
write(results);

async function measureGrowth(): Promise<NetworkReport> {
  const mappings = scaled(2000, 200);
  const fill = { pods: 0, reservations: scaled(5000, 500), mappings };
  const [reference] = references;
  const inUse = ({ contender }: Entry) => ({ ...contender, name: `${contender.name}${IN_USE}` });
  return await measure(
    FULL_CHAIN,
    [
      ...(reference === undefined
        ? []
        : [
            { contender: reference },
            {
              contender: inUse({ contender: reference }),
              fill: { ...fill, mappings: 0 },
              prepare: (site: Parameters<typeof copyMappings>[0]) => copyMappings(site, mappings),
            },
          ]),
      resident,
      { ...resident, contender: inUse(resident), fill },
    ],
    { rounds: scaled(20, 2), warmup: 1, ports: 2, verbs: ['ADD', 'DEL'] },
  );
}

async function measure(
  list: NetworkConfigList,
  entries: readonly Entry[],
  workload: Partial<Workload>,
): Promise<NetworkReport> {
  const report = await measureNetwork(
    list,
    entries,
    { ...DEFAULT_WORKLOAD, ...workload },
    {
      random: seeded(1),
      onProgress: tell,
    },
  );
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  return report;
}

/** On a terminal a line that the next one replaces; elsewhere only what takes long. */
function tell(what: string): void {
  const line = `${((performance.now() - began) / 1000).toFixed(0)} s: ${what}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
  else if (what.includes(': set up ')) process.stderr.write(`${line}\n`);
}

/** The floor is one of ADD: a process that deletes an interface cannot end before the kernel is through with it. */
function onlyAddOf(name: string, report: NetworkReport): NetworkReport {
  const measurements = report.measurements.filter(
    ({ verb, contender }) => contender !== name || verb === 'ADD',
  );
  return { ...report, measurements };
}

function write(results: Results): void {
  mkdirSync(out, { recursive: true });
  const { targets, environment } = results;
  const text = page(results);
  const messages = messagesPage();
  writeFileSync(`${out}/results.json`, `${JSON.stringify(withoutSamples(results), null, 1)}\n`);
  writeFileSync(`${out}/results.md`, `${text}\n`);
  writeFileSync(`${out}/messages.md`, messages);
  const drawn = { latency: [results.bridge, results.chain], mass: [results.mass], growth: [results.growth] };
  for (const [name, networks] of Object.entries(drawn)) {
    const workload = {
      ...DEFAULT_WORKLOAD,
      rounds: name === 'mass' ? 1 : rounds,
      ...(name === 'mass' && { batch: scaled(256, 32), parallel: 32 }),
    };
    writeFileSync(`${out}/${name}.svg`, plotSvg({ environment, workload, networks }));
  }
  console.log(`${text}\n`);
  console.log(
    table(
      ['what', 'target', 'measured', 'met'],
      targets.map((each) => [each.what, each.target, each.measured, each.met ? 'yes' : 'NO']),
    ),
  );
  console.log(
    `\n${targets.filter(({ met }) => met).length} of ${targets.length} met; ${((performance.now() - began) / 1000).toFixed(0)} s; all of it is in ${out}`,
  );
  if (rounds < USUAL_ROUNDS) console.log(`a short run, of ${rounds} rounds: its figures say little`);
  if (process.env['RECORD']) keep(text, messages);
}

function messagesPage(): string {
  return [
    '# The messages of the floor',
    'What the agent says to the kernel for a pod on a node in use, as it was recorded; `floor.c` sends the very same. Each number is one datagram.',
    `## ADD\n\n${listing(recording.add)}`,
    `## DEL\n\n${listing(recording.del)}`,
  ].join('\n\n');
}

function keep(text: string, messages: string): void {
  for (const name of ['latency', 'mass', 'growth']) {
    mkdirSync('docs/images', { recursive: true });
    writeFileSync(`docs/images/bench-${name}.svg`, readFileSync(`${out}/${name}.svg`));
  }
  writeFileSync('bench/results.json', readFileSync(`${out}/results.json`));
  writeFileSync('bench/floor/messages.md', messages);
  const path = 'docs/performance.md';
  const [begin, end] = ['<!-- make bench RECORD=1 writes from here -->', '<!-- to here -->'];
  const document = readFileSync(path, 'utf8');
  const [head, tail] = [document.indexOf(begin), document.indexOf(end)];
  if (head < 0 || tail < head) throw new Error(`${path} has no place for the results`);
  const drawings = ['latency', 'mass', 'growth']
    .map((name) => `![${name}](images/bench-${name}.svg)`)
    .join('\n\n');
  writeFileSync(
    `${path}.new`,
    `${document.slice(0, head)}${begin}\n\n${text}\n\n${drawings}\n\n${document.slice(tail)}`,
  );
  renameSync(`${path}.new`, path);
  console.log(`recorded in ${path}`);
}

function withoutSamples(results: Results): unknown {
  return JSON.parse(JSON.stringify(results, (key, value) => (key === 'samples' ? undefined : value)));
}

function versionOfHeddle(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }).version;
}
