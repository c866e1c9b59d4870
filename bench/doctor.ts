/**
 * How long the doctor takes for a node with many attachments, and whether anybody's traffic notices: two containers
 * send each other a small packet every few milliseconds all the time, and the round trips with a doctor at work are
 * compared with those without, in turns.
 *
 * `node --conditions=source bench/doctor.ts [ATTACHMENTS] [ROUNDS]`.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, summarize } from '@heddle/bench';
import { FileLocks, systemExec } from '@heddle/cni/runtime';
import { examine, type NodePorts, systemFiles, systemMachine } from '@heddle/doctor';
import { openSession } from '@heddle/netlink';
import { bindNetns, runInNetns, unbindNetns } from '@heddle/sys';
import { enterSandbox } from '../scripts/sandbox.ts';
import { Node, Pod } from '../test/support/node.ts';
import { installPlugins } from '../test/support/plugin-directory.ts';
import { EchoPair } from './echo-pair.ts';

enterSandbox();
const count = Number(process.argv[2] ?? 250);
const rounds = Number(process.argv[3] ?? 5);

using node = new Node();
const bin = installPlugins(join(node.directory, 'bin'));
const list = node.network(
  JSON.stringify({
    cniVersion: '1.0.0',
    name: 'podnet',
    plugins: [
      {
        ...{ type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: true },
        ipam: { type: 'host-local', ranges: [[{ subnet: '10.99.0.0/22' }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }),
);
const runtime = node.runtime([bin], { locks: new FileLocks(join(node.directory, 'locks')) });
mkdirSync(join(node.directory, 'netns'));
using cleanup = new DisposableStack();
const pods: Pod[] = [];
for (let number = 0; number < count; number++) {
  const path = join(node.directory, 'netns', `c${number}`);
  const pod = cleanup.adopt(new Pod(`c${number}`, { netns: path }), (each) => {
    unbindNetns(path);
    each[Symbol.dispose]();
  });
  bindNetns(pod.handle, path);
  await runtime.add(list, pod.attachment);
  pods.push(pod);
}
console.log(`${count} attachments`);

const exec = systemExec();
const ports: NodePorts = {
  files: systemFiles,
  machine: {
    kernelRelease: release(),
    uid: 0,
    kernelLog: () => systemMachine.kernelLog(),
    startTimes: () => [],
  },
  places: {
    configDir: join(node.directory, 'net.d'),
    pluginPath: [bin],
    cacheDir: join(node.directory, 'cache'),
    reservationDir: join(node.directory, 'ipam'),
    markDir: join(node.directory, 'adding'),
  },
  exec: {
    find: exec.find,
    run: (run) => {
      let started: ReturnType<typeof exec.run> | undefined;
      runInNetns(node.handle, () => {
        started = exec.run(run);
      });
      return started ?? exec.run(run);
    },
  },
  env: process.env,
  now: () => Date.now(),
  sleep: (milliseconds) => sleep(milliseconds),
  randomBytes,
};

const [first, second] = pods;
if (first === undefined || second === undefined) throw new Error('the traffic needs two attachments');
await using pair = await EchoPair.between(first, second);
const seconds: number[] = [];
const quiet: number[] = [];
const watched: number[] = [];
let lost = 0;
for (let round = 0; round < rounds; round++) {
  const began = Date.now();
  await sleep(3000);
  const before = await pair.during(began, began + 3000);
  using host = openSession({ netns: node.handle });
  const start = Date.now();
  const { findings } = await examine(ports, host);
  const end = Date.now();
  seconds.push((end - start) / 1000);
  const during = await pair.during(start, end);
  quiet.push(...before.took);
  watched.push(...during.took);
  lost += during.lost;
  console.log(`${seconds.at(-1)?.toFixed(2)} s, ${findings.length} findings`);
}
const [without, underWay] = [summarize(quiet), summarize(watched)];
console.log(`a look takes ${median(seconds).toFixed(2)} s (median of ${rounds})`);
console.log(
  `round trips between two containers: median ${without.median.toFixed(3)} ms without, ` +
    `${underWay.median.toFixed(3)} ms with a look under way (× ${(underWay.median / without.median).toFixed(2)}); ` +
    `of a hundred the slowest ${without.p99.toFixed(3)} and ${underWay.p99.toFixed(3)} ms`,
);
console.log(`${lost} of ${watched.length + lost} packets lost during looks`);
