/**
 * The overlay between two nodes against the same network set up by hand with `ip` and `bridge`: throughput and round trips
 * from pod to pod, in rounds of which each asks both networks, one after the other, the first in turn.
 *
 *   node --conditions=source bench/overlay.ts [ROUNDS] [MEGABYTES]      20 rounds, with 256 megabytes for each transfer
 *
 * Prints the ratio of ours to the other with the interval that holds it with 95 % probability. Needs root, ping and iperf3.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { median, ratioOfMedians, seeded } from '@heddle/bench';
import { TestCluster, type TestPod } from '@heddle/routing/testing';
import { runInNetns } from '@heddle/sys';
import { HandMadeNode, planOf } from '../test/cluster/hand-made.ts';
import { until } from '../test/support/until.ts';

const rounds = Number(process.argv[2] ?? 20);
const megabytes = Number(process.argv[3] ?? 256);
const PINGS = 5000;
const NODES = [1, 2] as const;

await using cluster = new TestCluster();
const pool = { encapsulation: 'always', natOutgoing: false } as const;
await cluster.pool('v4', '10.244.0.0/16', pool);
await cluster.pool('v6', 'fd00:10:244::/48', pool);
const ours = cluster.segment();
const one = await cluster.node('n1', ours, ['192.0.2.1/24']);
const two = await cluster.node('n2', ours, ['192.0.2.2/24']);
const pods = [await one.pod(), await two.pod()] as const;
await reach(pods);

const theirs = cluster.segment();
const plans = [planOf(one, '192.0.2.1'), planOf(two, '192.0.2.2')] as const;
const [here, there] = NODES.map((number) => {
  const netns = cluster.netns();
  cluster.plug(netns, theirs, 'eth0', [`192.0.2.${number}/24`]);
  const [own, peer] = number === 1 ? plans : [plans[1], plans[0]];
  return new HandMadeNode(netns, { own, peer, device: 'heddle-vxlan', mtu: 1450 }).pod(cluster.netns());
});
if (here === undefined || there === undefined) throw new Error('there are two nodes');
await reach([here, there]);

type Pair = readonly [from: TestPod, to: TestPod];
const networks: readonly Pair[] = [pods, [here, there]];
await using servers = new AsyncDisposableStack();
for (const [, to] of networks) {
  const server = runInNetns(to.netns.handle, () => spawn('iperf3', ['-s'], { stdio: 'ignore' }));
  const ended = once(server, 'exit');
  servers.defer(async () => {
    server.kill();
    await ended;
  });
}

for (const family of [4, 6] as const) {
  const samples: [trips: number[], rates: number[]][] = [
    [[], []],
    [[], []],
  ];
  // The first round warms up, and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const [pair, sample] = [networks[index], samples[index]];
      if (pair === undefined || sample === undefined) continue;
      const trip = roundTrip(pair, family);
      const rate = await throughput(pair, family);
      if (round === 0) continue;
      sample[0].push(trip);
      sample[1].push(rate);
    }
  }
  tell(`IPv${family}, round trip of ${PINGS} pings, µs`, samples[0]?.[0] ?? [], samples[1]?.[0] ?? [], 1);
  tell(`IPv${family}, throughput, Gbit/s`, samples[0]?.[1] ?? [], samples[1]?.[1] ?? [], 2);
}

function tell(what: string, our: readonly number[], other: readonly number[], digits: number): void {
  const { ratio, low, high } = ratioOfMedians(our, other, { random: seeded(72) });
  const medians = `ours ${median(our).toFixed(digits)}, by hand ${median(other).toFixed(digits)}`;
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
  const said = from.netns.run(`ping -n -q -A -c ${PINGS} ${addressOf(to, family)}`);
  const milliseconds = / 0% packet loss, time (\d+)ms/.exec(said)?.[1];
  if (milliseconds === undefined) throw new Error(`not all pings were answered: ${said}`);
  return (Number(milliseconds) * 1000) / PINGS;
}

/** What one TCP stream carries, in Gbit/s. */
async function throughput([from, to]: Pair, family: 4 | 6): Promise<number> {
  const said = from.netns.run(`iperf3 -c ${addressOf(to, family)} -n ${megabytes}M -J`);
  // The server takes the next one a moment after it has answered this one.
  await pause(50);
  return JSON.parse(said).end.sum_received.bits_per_second / 1e9;
}

async function reach([from, to]: Pair): Promise<void> {
  for (const address of to.addresses) {
    await until(`${address} to answer`, () => (from.netns.pings(address) ? true : undefined), 60);
  }
}
