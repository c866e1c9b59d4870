/**
 * How a node does in a large cluster: real calculation, real messages, a kernel and a store in memory.
 *
 *   node --conditions=source bench/routing.ts [PODS [NODES…]]      110 pods each on 50, 500 and 5,000 nodes by default
 *
 * Prints a table with a column for each size: what it takes until the node has all its routes, and to follow one other node's
 * change. Each size has a process of its own (`bench/routing-node.ts`), so that none finds warm what another has warmed.
 */
import { spawnSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { quantile } from '@heddle/bench';
import { table } from './page.ts';
import type { Following, SimulatedNode } from './routing-node.ts';

const [pods = '110', ...sizes] = process.argv.slice(2);
const nodes = (sizes.length > 0 ? sizes : ['50', '500', '5000']).map(Number);
const before = loadavg()[0] ?? 0;
const found = nodes.map((size) => simulate(size, Number(pods)));
const rows: Row[] = [
  ...(['start', 'restart'] as const).flatMap((what): Row[] => [
    [`${what}: messages`, (node) => whole(node[what].changes)],
    [`${what}: processor time, without the kernel`, (node) => ms(node[what].processor - node[what].kernel)],
    [`${what}: processor time of the kernel in memory`, (node) => ms(node[what].kernel)],
    [`${what}: from beginning to end, all of it`, (node) => ms(node[what].elapsed)],
  ]),
  ['memory', ({ memory }) => mebibytes(memory.node)],
  ['memory of the kernel in memory', ({ memory }) => mebibytes(memory.kernel)],
  ...(found[0]?.followed ?? []).flatMap(({ what }): Row[] => {
    const of = ({ followed }: SimulatedNode) => followed.find((each) => each.what === what);
    return [
      [`${what}: messages`, (node) => whole(of(node)?.changes ?? Number.NaN)],
      [`${what}: from event to batch`, (node) => delay(of(node))],
      [`${what}: processor time from event to batch`, (node) => ms(quantile(of(node)?.processor ?? [], 0.5))],
    ];
  }),
];
console.log(
  `${cpus().length} processors (${cpus()[0]?.model}), load ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after; ` +
    `${pods} pods on each node; ${found[0]?.followed[0]?.processor.length} changes of each kind: median, nine in ten within, longest\n`,
);
console.log(
  table(
    ['', ...nodes.map((size) => `${whole(size)} nodes`)],
    rows.map(([what, value]) => [what, ...found.map(value)]),
  ),
);

/** What a row is about, and what stands in it. */
type Row = readonly [string, (node: SimulatedNode) => string];

function simulate(size: number, podsPerNode: number): SimulatedNode {
  const script = `${import.meta.dirname}/routing-node.ts`;
  const args = [...process.execArgv, '--expose-gc', script, `${size}`, `${podsPerNode}`];
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`the simulation of ${size} nodes ended with ${status}`);
  return JSON.parse(stdout) as SimulatedNode;
}

function delay({ delays }: Pick<Following, 'delays'> = { delays: [] }): string {
  if (delays.length === 0) return '–';
  return `${ms(quantile(delays, 0.5))}, ${ms(quantile(delays, 0.9))}, ${ms(quantile(delays, 1))}`;
}

function whole(value: number): string {
  return value.toLocaleString('en');
}

function ms(value: number): string {
  return value < 1_000 ? `${value.toFixed(value < 100 ? 1 : 0)} ms` : `${(value / 1_000).toFixed(1)} s`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
