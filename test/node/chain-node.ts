/**
 * A node of a cluster as `heddle up` leaves it, for chains: a runtime with the network that is written there, pods that
 * answer on their ports, and somebody outside.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, NetworkConfigList, Result } from '@heddle/cni';
import { serve } from '@heddle/cni/plugin';
import {
  type Attachment,
  FileLocks,
  inProcessExec,
  loadNetworkFile,
  Runtime,
  systemExec,
} from '@heddle/cni/runtime';
import { residentPlugins } from '@heddle/plugins';
import { type Container, TestNetns } from '@heddle/plugins/testing';
import { runInNetns } from '@heddle/sys';
import { clusterNetwork } from '../../packages/cli/src/node/network.ts';
import { leftovers } from '../support/leftovers.ts';
import { until } from '../support/until.ts';
import { TestNode } from './test-node.ts';

/** The node's addresses, as those outside know them. */
export const NODE = { 4: '198.51.100.1', 6: '2001:db8:1::1' } as const;
/** Somebody outside, whose way to the pods is the node. */
export const OUTSIDE = { 4: '198.51.100.2', 6: '2001:db8:1::2' } as const;

/** How to connect: to an address, with `tcp` or `udp`, at a port. */
export type Question = readonly [address: string, protocol: 'tcp' | 'udp', port: number];

/** A pod with what the runtime knows of it. */
export interface ChainPod {
  readonly netns: Container;
  readonly attachment: Attachment;
}

/** See the file's comment. */
export class ChainNode implements AsyncDisposable {
  readonly outside = new TestNetns();
  readonly network: NetworkConfigList;
  readonly cni: Runtime;
  readonly #node: TestNode;
  readonly #directory: string;
  readonly #servers: ChildProcess[] = [];

  private constructor(node: TestNode, more: readonly JsonObject[]) {
    this.#node = node;
    this.#directory = join(node.directory, 'runtime');
    const { host } = node.lab;
    host.join(this.outside, ['wire', 'eth0']);
    for (const [netns, link, ends] of [
      [host, 'wire', NODE],
      [this.outside, 'eth0', OUTSIDE],
    ] as const) {
      netns.run(`ip address add ${ends[4]}/24 dev ${link}`);
      netns.run(`ip address add ${ends[6]}/64 dev ${link} nodad`);
    }
    for (const family of [4, 6] as const) this.outside.run(`ip route add default via ${NODE[family]}`);
    const list = JSON.parse(clusterNetwork()) as { plugins: JsonObject[] };
    list.plugins.push(...more);
    mkdirSync(this.#directory);
    const file = join(this.#directory, 'heddle.conflist');
    writeFileSync(file, JSON.stringify(list));
    this.network = loadNetworkFile(file) as NetworkConfigList;
    const plugins = residentPlugins({ addresses: () => node.node.addresses });
    const has = (type: string) => plugins.has(type);
    const run: Parameters<typeof inProcessExec>[0]['serve'] = async (type, invocation) => {
      const plugin = plugins.get(type);
      if (plugin === undefined) throw new Error(`there is no plugin ${type}`);
      return await serve(plugin, invocation, node.lab.surroundings);
    };
    this.cni = new Runtime({
      path: [join(this.#directory, 'bin')],
      env: process.env,
      cacheDir: join(this.#directory, 'cache'),
      locks: new FileLocks(join(this.#directory, 'locks')),
      exec: inProcessExec({ has, serve: run }, systemExec()),
    });
  }

  /** @param more plugins that come after those of the cluster's network */
  static async joined(more: (directory: string) => readonly JsonObject[]): Promise<ChainNode> {
    const node = await TestNode.joined();
    return new ChainNode(node, more(node.directory));
  }

  get host(): TestNetns {
    return this.#node.lab.host;
  }

  /** A pod that is about to be attached. */
  pod(id: string, capabilityArgs: JsonObject = {}): ChainPod {
    const netns = this.#node.lab.container(id);
    const { path } = netns;
    return { netns, attachment: { containerID: id, ifName: 'eth0', netns: path, capabilityArgs } };
  }

  /** Attaches a pod, and gives the result with its addresses by family. */
  async add({ attachment }: ChainPod): Promise<{ result: Result; address: { 4: string; 6: string } }> {
    const result = (await this.cni.add(this.network, attachment)) as Result;
    const [four = '', six = ''] = (result.ips ?? []).map(({ address }) => address.split('/')[0] ?? '');
    return { result, address: { 4: four, 6: six } };
  }

  /** What the node holds when a pod has come and gone: what is shared is there, and nothing else. */
  async settled(pod: ChainPod): Promise<readonly string[]> {
    await this.add(pod);
    await this.cni.del(this.network, pod.attachment);
    for (const family of [4, 6]) {
      const routes = () => this.host.run(`ip -${family} route show type blackhole`) !== '' || undefined;
      await until(`the routes of IPv${family} blocks`, routes);
    }
    return this.state();
  }

  /** All that attachments could leave behind: in the kernel, in files, and in the cluster's store. */
  async state(): Promise<readonly string[]> {
    return [
      ...leftovers(this.host, [join(this.#directory, 'cache'), join(this.#node.directory, 'tuning')]),
      ...this.host.run('iptables-save').split('\n').filter(isRule),
      ...this.host.run('ip6tables-save').split('\n').filter(isRule),
      ...(await this.holders()).map((id) => `${id} holds an address`),
    ];
  }

  /** Who holds addresses. */
  async holders(): Promise<readonly string[]> {
    return (await this.#node.node.addresses.list('heddle')).map(({ containerID }) => containerID);
  }

  /** Starts servers that tell their name and who asks, by TCP and UDP, and how much they were sent, on the port after it. */
  async serve(netns: TestNetns, name: string, port: number): Promise<void> {
    const child = runInNetns(netns.handle, () =>
      spawn(process.execPath, ['-e', SERVER, name, `${port}`], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    this.#servers.push(child);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
  }

  /** What answers there; '' where nothing does. */
  ask(netns: TestNetns, questions: readonly Question[], seconds = 60): readonly string[] {
    return this.#program(netns, [CLIENT, `${seconds}`, JSON.stringify(questions)]) as string[];
  }

  /** Sends so many bytes, and gives the seconds until the other side has told that it has them all. */
  send(netns: TestNetns, address: string, port: number, bytes: number): number {
    const { received, seconds } = this.#program(netns, [SENDER, address, `${port}`, `${bytes}`]) as {
      received: number;
      seconds: number;
    };
    if (received !== bytes) throw new Error(`${received} of ${bytes} bytes came to ${address}`);
    return seconds;
  }

  #program(netns: TestNetns, args: readonly string[]): unknown {
    const { status, stdout, stderr } = runInNetns(netns.handle, () =>
      spawnSync(process.execPath, ['-e', ...args], { encoding: 'utf8' }),
    );
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) server.kill('SIGKILL');
    this.outside[Symbol.dispose]();
    await this.#node[Symbol.asyncDispose]();
  }
}

/** A line that says what is done to packets, and not when it was written or how many came by. */
const isRule = (line: string) => /^(-A|-N|\*|:\S+ -)/.test(line);

const SERVER = `
const [name, port] = process.argv.slice(1);
const net = require('node:net');
const who = (address) => address.replace('::ffff:', '');
net.createServer({ allowHalfOpen: true }, (socket) => {
  let count = 0;
  socket.on('error', () => {}).on('data', (data) => { count += data.length; }).on('end', () => socket.end(String(count)));
}).listen(Number(port) + 1, '::', () => net.createServer((socket) => {
  socket.on('error', () => {}).end(name + ' ' + who(socket.remoteAddress));
}).listen(Number(port), '::', () => {
  const udp = require('node:dgram').createSocket('udp6');
  udp.on('message', (_, { address, port }) => udp.send(name + ' ' + who(address), port, address));
  udp.bind(Number(port), '::', () => console.log('ready'));
}));`;

const CLIENT = `
const [seconds, questions] = process.argv.slice(1);
const ask = ([address, protocol, port]) => new Promise((done) => {
  setTimeout(() => done(''), Number(seconds) * 1000);
  if (protocol === 'tcp') {
    require('node:net').connect({ host: address, port }).on('data', (data) => done(String(data))).on('error', () => done(''));
  } else {
    const socket = require('node:dgram').createSocket(address.includes(':') ? 'udp6' : 'udp4');
    socket.on('message', (data) => done(String(data))).on('error', () => done(''));
    socket.bind(0, () => socket.send('?', port, address));
  }
});
Promise.all(JSON.parse(questions).map(ask)).then((answers) => {
  process.stdout.write(JSON.stringify(answers), () => process.exit());
});`;

const SENDER = `
const [host, port, bytes] = process.argv.slice(1);
const began = performance.now();
const socket = require('node:net').connect({ host, port: Number(port) });
socket.on('data', (data) => {
  process.stdout.write(JSON.stringify({ received: Number(data), seconds: (performance.now() - began) / 1000 }));
});
socket.end(Buffer.alloc(Number(bytes)));`;
