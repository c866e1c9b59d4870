/**
 * A node of a cluster for tests: a private namespace with an underlay, the agent's part of the cluster over a store in
 * a temporary directory, and the plugins as the agent has them. The machine's own network is never touched.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ClusterNode,
  type NodeEvent,
  openStore,
  parseNodeConfig,
  type WrittenNodeConfig,
} from '@heddle/agent';
import { type IpamSettings, putPool, putSettings } from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';
import { residentPlugins } from '@heddle/plugins';
import { PluginLab } from '@heddle/plugins/testing';
import { until } from '../support/until.ts';

/** What a node is like. */
export interface TestNodeOptions {
  /** Ranges of pools by name. */
  readonly pools?: Readonly<Record<string, string>>;
  readonly settings?: Partial<IpamSettings>;
  readonly config?: Partial<WrittenNodeConfig>;
  /** In place of a directory of its own, for a second node or a second agent. */
  readonly directory?: string;
}

/** See the file's comment. */
export class TestNode implements AsyncDisposable {
  readonly directory: string;
  readonly lab: PluginLab;
  readonly node: ClusterNode;
  readonly events: NodeEvent[] = [];
  readonly store: string;
  readonly socket: string;
  readonly waiting: string;
  /** As `heddle agent --node` takes it. */
  readonly configFile: string;
  readonly #ownsDirectory: boolean;

  private constructor({ config = {}, directory }: TestNodeOptions) {
    this.#ownsDirectory = directory === undefined;
    this.directory = directory ?? mkdtempSync(join(tmpdir(), 'heddle-node-'));
    this.store = `sqlite://${this.directory}/store.db`;
    this.socket = join(this.directory, 'node.sock');
    this.waiting = join(this.directory, 'waiting');
    const { store, socket, waiting } = this;
    const whole = { name: 'n1', instance: 'test-machine', store, socket, waiting, ...config };
    this.configFile = join(this.directory, 'node.json');
    writeFileSync(this.configFile, JSON.stringify(whole));
    this.lab = new PluginLab([...residentPlugins({ addresses: () => this.node.addresses }).values()]);
    this.lab.host.run('ip link add underlay type veth peer name beyond');
    this.lab.host.run('ip address add 192.0.2.10/24 dev underlay');
    this.lab.host.run('ip address add 2001:db8::10/64 dev underlay nodad');
    for (const end of ['underlay', 'beyond']) this.lab.host.run(`ip link set ${end} up`);
    this.lab.host.run('ip link set lo up');
    this.node = new ClusterNode({
      config: parseNodeConfig(whole, 'the test'),
      instance: 'test-machine',
      version: '0.0.0-test',
      session: this.lab.host.session,
      onEvent: (event) => this.events.push(event),
      pace: { retry: 20 },
    });
  }

  /** A node that has joined, and whose kernel is as the cluster wants it. */
  static async joined(options: TestNodeOptions = {}): Promise<TestNode> {
    const node = await TestNode.started(options);
    await node.node.joined();
    await until('its routes', async () => (await node.node.status()).routing?.lastResync);
    return node;
  }

  /** A node that is about to join. */
  static async started(options: TestNodeOptions = {}): Promise<TestNode> {
    const { settings = {}, pools = { four: '10.244.0.0/16', six: 'fd00:10:244::/112' } } = options;
    const node = new TestNode(options);
    await using store = await openStore({ store: node.store });
    for (const [name, cidr] of Object.entries(pools))
      await putPool(store, { name, cidr: Prefix.parse(cidr) });
    await putSettings(store, settings);
    await node.node.start();
    return node;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
    this.lab[Symbol.dispose]();
    if (this.#ownsDirectory) rmSync(this.directory, { recursive: true, force: true });
  }
}
