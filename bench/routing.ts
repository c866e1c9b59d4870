/**
 * How routing does in a large cluster: real calculation, real messages, a kernel in memory.
 *
 *   node --conditions=source --expose-gc bench/routing.ts [NODES] [PODS]      5,000 nodes with 110 pods each by default
 *
 * Prints a table: the time and the memory until a node has all its routes, and what one other node's change costs.
 */
import { Prefix } from '@heddle/netaddr';
import { FakeKernel } from '@heddle/netlink/testing';
import { joinCluster, NODE_KEYS, type RouterEvent, startRouter } from '@heddle/routing';
import { changesOf, fillStore } from '@heddle/routing/testing';
import { memoryStore } from '@heddle/store/testing';

const nodes = Number(process.argv[2] ?? 5_000);
const podsPerNode = Number(process.argv[3] ?? 110);

const store = memoryStore({ history: 100_000 });
await fillStore(store, { nodes, podsPerNode });
const session = new FakeKernel().session('host');
await session.links.add({ name: 'eth0', kind: 'dummy', up: true });
await session.addresses.add({ link: 'eth0', prefix: Prefix.parse('172.31.255.1/12') });

const heap = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};
const before = heap();
const began = performance.now();
const cpu = process.cpuUsage();
const waiting: ((event: RouterEvent & { readonly kind: 'applied' }) => void)[] = [];
const onEvent = (event: RouterEvent) => {
  if (event.kind === 'applied') waiting.shift()?.(event);
};
/** The next time that the kernel was changed: how long after now, and by how much. */
async function next(start = performance.now()) {
  const { promise, resolve } = Promise.withResolvers<number>();
  waiting.push(({ changes }) => resolve(changes));
  const changes = await promise;
  return { changes, milliseconds: performance.now() - start };
}

await using membership = await joinCluster({
  ...{ store, session, name: 'own', instance: 'own', version: '1' },
});
const first = next(began);
await using router = await startRouter({ ...{ membership, store, session, resyncSeconds: 3600 }, onEvent });
const started = await first;
const used = process.cpuUsage(cpu);
await router.resync();
const memory = heap() - before;

const rows: (readonly [string, string])[] = [
  ['nodes, pods on each', `${nodes}, ${podsPerNode}`],
  [
    'start: until the last message was answered',
    `${ms(started.milliseconds)} (processor time ${ms((used.user + used.system) / 1000)})`,
  ],
  ['start: changes sent', String(started.changes)],
  ['memory of the node, with the kernel in memory', `${(memory / 2 ** 20).toFixed(0)} MiB`],
];
const ROUNDS = 20;
await measure('a node is new', (round) => changesOf(nodes + round, podsPerNode));
await measure('a node has another MTU', (round) => changesOf(round, podsPerNode, 1400).slice(0, 1));
await measure('a node has left', (round) => [
  { delete: NODE_KEYS.member(`n${nodes + round}`) },
  { delete: NODE_KEYS.node(`n${nodes + round}`) },
]);
const compared = process.cpuUsage();
await router.resync();
const comparing = process.cpuUsage(compared);
rows.push(['comparing all of it: processor time', ms((comparing.user + comparing.system) / 1000)]);
for (const [what, value] of rows) console.log(`${what.padEnd(48)} ${value}`);

async function measure(
  what: string,
  changes: (round: number) => Parameters<typeof store.commit>[0]['changes'],
): Promise<void> {
  const times: number[] = [];
  const processor: number[] = [];
  let sent = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const applied = next();
    const cpu = process.cpuUsage();
    await store.commit({ changes: changes(round) });
    const { milliseconds, changes: count } = await applied;
    const used = process.cpuUsage(cpu);
    times.push(milliseconds);
    processor.push((used.user + used.system) / 1000);
    sent = count;
  }
  const middle = (all: number[]) => all.sort((a, b) => a - b)[all.length >> 1] ?? 0;
  const [elapsed, busy] = [middle(times), middle(processor)];
  rows.push([
    `${what}: ${sent} changes`,
    `${ms(elapsed)}, least ${ms(times[0] ?? 0)} (processor time ${ms(busy)})`,
  ]);
}

function ms(value: number): string {
  return `${value.toFixed(value < 100 ? 1 : 0)} ms`;
}
