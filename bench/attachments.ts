/** How long ADD and DEL of a chain take, process starts included. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLUGINS } from '@heddle/plugins';
import { TestNetns } from '@heddle/plugins/testing';
import { startAgent } from '../test/support/agent-lane.ts';
import { installClient } from '../test/support/plugin-directory.ts';
import { Driver } from './driver.ts';
import { printTable } from './table.ts';

interface Chain {
  readonly title: string;
  readonly plugins: readonly Readonly<Record<string, unknown>>[];
}

interface Contender {
  readonly name: string;
  readonly directory: string;
  readonly node: TestNetns;
  readonly driver: Driver;
  readonly data: string;
  readonly agent: Disposable | undefined;
  readonly add: number[];
  readonly del: number[];
}

/** Measures each chain with the agent, with the program alone, and with the references. */
export async function attachments(
  heddle: string,
  references: readonly { name: string; directory: string }[],
  rounds: number,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-bench-bin-'));
  for (const type of PLUGINS.keys()) symlinkSync(heddle, join(directory, type));
  const client = installClient(mkdtempSync(join(tmpdir(), 'heddle-bench-client-')));
  for (const chain of chains().filter(({ plugins }) =>
    plugins.every(({ type }) => PLUGINS.has(String(type))),
  )) {
    const contenders = [
      { name: 'heddle: client and agent', directory: client, withAgent: true },
      { name: 'heddle: program alone', directory },
      ...references,
    ].map(start);
    for (let round = -2; round < rounds; round++) {
      for (const contender of contenders) await attachOnce(contender, chain, round);
    }
    for (const verb of ['add', 'del'] as const) {
      const [ours, ...others] = contenders.map((each) => ({ name: each.name, milliseconds: each[verb] }));
      if (ours !== undefined) printTable(`${verb.toUpperCase()}: ${chain.title}`, ours, others);
    }
    for (const { node, driver, data, agent } of contenders) {
      agent?.[Symbol.dispose]();
      driver[Symbol.dispose]();
      node[Symbol.dispose]();
      rmSync(data, { recursive: true });
    }
  }
  for (const each of [directory, client]) rmSync(each, { recursive: true });
}

function chains(): readonly Chain[] {
  const bridge = { type: 'bridge', bridge: 'hdbench0', isGateway: true };
  const ports = [8080, 8443].map((hostPort) => ({ hostPort, containerPort: hostPort, protocol: 'tcp' }));
  return [
    { title: 'bridge + host-local', plugins: [bridge] },
    {
      title: 'bridge (masquerading) + host-local, portmap of two ports, firewall, bandwidth, tuning',
      plugins: [
        { ...bridge, ipMasq: true },
        { type: 'portmap', runtimeConfig: { portMappings: ports } },
        { type: 'firewall' },
        { type: 'bandwidth', ingressRate: 1e8, ingressBurst: 1e7, egressRate: 1e8, egressBurst: 1e7 },
        { type: 'tuning', mtu: 1400 },
      ],
    },
    {
      title: 'bridge (masquerading) + host-local + portmap of two ports',
      plugins: [
        { ...bridge, ipMasq: true },
        { type: 'portmap', runtimeConfig: { portMappings: ports } },
      ],
    },
  ];
}

function start({
  name,
  directory,
  withAgent = false,
}: {
  name: string;
  directory: string;
  withAgent?: boolean;
}): Contender {
  const node = new TestNetns();
  node.run('ip', 'link', 'set', 'lo', 'up');
  const data = mkdtempSync(join(tmpdir(), 'heddle-bench-data-'));
  const agent = withAgent ? startAgent(node.handle, data) : undefined;
  return { name, directory, node, data, agent, driver: new Driver(node.handle), add: [], del: [] };
}

/** One pod: ADD of the whole chain, then DEL. The first rounds, below zero, warm up and do not count. */
async function attachOnce(contender: Contender, chain: Chain, round: number): Promise<void> {
  using pod = new TestNetns();
  const containerID = `pod${round + 2}`;
  let prevResult: unknown;
  let added = 0;
  for (const plugin of chain.plugins) {
    const { stdout, milliseconds } = await call(contender, 'ADD', { plugin, prevResult, containerID, pod });
    prevResult = JSON.parse(stdout);
    added += milliseconds;
  }
  let deleted = 0;
  for (const plugin of chain.plugins.toReversed()) {
    deleted += (await call(contender, 'DEL', { plugin, prevResult, containerID, pod })).milliseconds;
  }
  if (round < 0) return;
  contender.add.push(added);
  contender.del.push(deleted);
}

interface Call {
  readonly plugin: Readonly<Record<string, unknown>>;
  readonly prevResult: unknown;
  readonly containerID: string;
  readonly pod: TestNetns;
}

async function call(contender: Contender, command: string, { plugin, prevResult, containerID, pod }: Call) {
  const { name, directory, driver, data } = contender;
  const ipam = { type: 'host-local', dataDir: join(data, 'ipam'), subnet: '10.77.0.0/16' };
  const config = {
    cniVersion: '1.0.0',
    name: 'bench',
    ...plugin,
    ...(plugin['type'] === 'bridge' && { ipam }),
    prevResult,
  };
  const timing = await driver.run({
    program: join(directory, String(plugin['type'])),
    env: {
      CNI_COMMAND: command,
      CNI_CONTAINERID: containerID,
      CNI_NETNS: pod.path,
      CNI_IFNAME: 'eth0',
      CNI_PATH: directory,
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      HEDDLE_AGENT_SOCKET: join(data, 'agent.sock'),
    },
    stdin: JSON.stringify(config),
  });
  if (timing.status !== 0) throw new Error(`${name}: ${command} of ${plugin['type']}: ${timing.stdout}`);
  return timing;
}
