/**
 * The overlay between two nodes against the same network set up by hand with `ip` and `bridge`: throughput and round trips
 * from pod to pod. Each round makes both networks anew, for how fast one is depends by some per cent on where its links and
 * sockets happen to lie in memory; in a round each is asked twice, in the order A B B A, and what the machine does meanwhile
 * meets both.
 *
 *   node --conditions=source bench/overlay.ts [ROUNDS] [MEGABYTES]      20 rounds, with 1,024 megabytes for each transfer
 *
 * Prints the median of the rounds' ratios of ours to the other, with the interval that holds it with 95 % probability. Needs
 * root, two processors, ping, iperf3 and taskset.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { median, medianOfRatios, seeded } from '@heddle/bench';
import { TestCluster, type TestPod } from '@heddle/routing/testing';
import { runInNetns } from '@heddle/sys';
import { HandMadeNode, planOf } from '../test/cluster/hand-made.ts';
import { until } from '../test/support/until.ts';

const rounds = Number(process.argv[2] ?? 20);
const megabytes = Number(process.argv[3] ?? 1024);
const PINGS = 10_000;
const FAMILIES = [4, 6] as const;
const NETWORKS = ['ours', 'byHand'] as const;

type Pair = readonly [from: TestPod, to: TestPod];
type Network = (typeof NETWORKS)[number];
/** One figure of each round. */
type Figures = Record<Network, number[]>;

const none = (): Figures => ({ ours: [], byHand: [] });
const trips = { 4: none(), 6: none() };
const rates = { 4: none(), 6: none() };
const before = loadavg()[0] ?? 0;
for (let round = 0; round < rounds; round++) {
  await using stack = new AsyncDisposableStack();
  const networks = await makeNetworks(stack);
  const order = round % 2 === 0 ? NETWORKS : NETWORKS.toReversed();
  for (const family of FAMILIES) {
    const found = { trips: none(), rates: none() };
    for (const network of order) roundTrip(networks[network], family);
    for (const network of [...order, ...order.toReversed()]) {
      found.trips[network].push(roundTrip(networks[network], family));
      found.rates[network].push(await throughput(networks[network], family));
    }
    for (const network of NETWORKS) {
      trips[family][network].push(mean(found.trips[network]));
      rates[family][network].push(mean(found.rates[network]));
    }
  }
}
for (const family of FAMILIES) {
  tell(`IPv${family}, round trip of ${PINGS} pings, µs`, trips[family], 1);
  tell(`IPv${family}, throughput, Gbit/s`, rates[family], 2);
}
console.log(`${rounds} rounds; load ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`);

async function makeNetworks(stack: AsyncDisposableStack): Promise<Record<Network, Pair>> {
  const cluster = stack.use(new TestCluster());
  const pool = { encapsulation: 'always', natOutgoing: false } as const;
  await cluster.pool('v4', '10.244.0.0/16', pool);
  await cluster.pool('v6', 'fd00:10:244::/48', pool);
  const segment = cluster.segment();
  const one = await cluster.node('n1', segment, ['192.0.2.1/24']);
  const two = await cluster.node('n2', segment, ['192.0.2.2/24']);
  const ours = [await one.pod(), await two.pod()] as const;
  // Then both nodes have told their tunnel addresses.
  await reach(ours);
  const theirs = cluster.segment();
  const plans = [planOf(one, '192.0.2.1'), planOf(two, '192.0.2.2')] as const;
  const byHand = ([1, 2] as const).map((number) => {
    const netns = cluster.netns();
    cluster.plug(netns, theirs, 'eth0', [`192.0.2.${number}/24`]);
    const [own, peer] = number === 1 ? plans : [plans[1], plans[0]];
    return new HandMadeNode(netns, { own, peer, device: 'heddle-vxlan', mtu: 1450 }).pod(cluster.netns());
  });
  const [from, to] = byHand;
  if (from === undefined || to === undefined) throw new Error('there are two nodes');
  await reach([from, to]);
  for (const pod of [ours[1], to]) serve(stack, pod);
  return { ours, byHand: [from, to] };
}

function serve(stack: AsyncDisposableStack, { netns }: TestPod): void {
  const server = runInNetns(netns.handle, () => spawn('iperf3', ['-s'], { stdio: 'ignore' }));
  const ended = once(server, 'exit');
  stack.defer(async () => {
    server.kill();
    await ended;
  });
}

function tell(what: string, { ours, byHand }: Figures, digits: number): void {
  const { ratio, low, high } = medianOfRatios(ours, byHand, { random: seeded(72) });
  const medians = `ours ${median(ours).toFixed(digits)}, by hand ${median(byHand).toFixed(digits)}`;
  console.log(`${what}: ${medians}; ratio ${ratio.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`);
}

function addressOf({ addresses }: TestPod, family: 4 | 6): string {
  const found = addresses.find((address) => address.includes(':') === (family === 6));
  if (found === undefined) throw new Error(`a pod without IPv${family}`);
  return found;
}

/**
 * The mean of many, each sent when the last is answered; in microseconds. It is the whole time, by number: the mean that
 * ping says has no more digits than two.
 */
function roundTrip([from, to]: Pair, family: 4 | 6): number {
  const said = from.netns.run(`taskset -c 0 ping -n -q -A -c ${PINGS} ${addressOf(to, family)}`);
  const milliseconds = / 0% packet loss, time (\d+)ms/.exec(said)?.[1];
  if (milliseconds === undefined) throw new Error(`not all pings were answered: ${said}`);
  return (Number(milliseconds) * 1000) / PINGS;
}

/** What one TCP stream carries, in Gbit/s; where each end runs is said, or it would depend on the scheduler. */
async function throughput([from, to]: Pair, family: 4 | 6): Promise<number> {
  const said = from.netns.run(`iperf3 -c ${addressOf(to, family)} -A 0,1 -n ${megabytes}M -J`);
  // The server takes the next one a moment after it has answered this one.
  await pause(50);
  return JSON.parse(said).end.sum_received.bits_per_second / 1e9;
}

async function reach([from, to]: Pair): Promise<void> {
  for (const address of to.addresses) {
    await until(`${address} to answer`, () => (from.netns.pings(address) ? true : undefined), 60);
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
