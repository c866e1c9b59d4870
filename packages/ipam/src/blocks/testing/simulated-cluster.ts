/**
 * Nodes that take addresses, give them back, crash, are lost and come back, at random but reproducibly, and a ledger
 * beside the store of who must have what.
 */
import assert from 'node:assert/strict';
import { HeddleError } from '@heddle/errors';
import { Addr, AddrRange, Prefix } from '@heddle/netaddr';
import type { Store } from '@heddle/store';
import { type Faults, type SimulatedClient, Simulation } from '@heddle/store/testing';
import {
  allocateAddresses,
  inspectStore,
  LeakWatch,
  type Member,
  NodeBlocks,
  putPool,
  putSettings,
  releaseHandle,
  releaseIdleBlocks,
  removeNode,
} from '../index.ts';

/** What a run is like. */
export interface ClusterOptions {
  readonly seed: number;
  /** How many things are done in all. */
  readonly steps: number;
  /** A fault that is planted into what every node sees of the store. */
  readonly sabotage?: (store: Store) => Store;
  /** Whether the collector of garbage believes a single look. */
  readonly hasty?: boolean;
}

/** What happened, to show that something did. */
export type Tally = Readonly<Record<string, number>>;

const FAULTS: Faults = { refuse: 0.01, loseAnswer: 0.01 };
const NODES = ['n1', 'n2', 'n3', 'n4'];
/** More than any call takes here, in simulated milliseconds. */
const GRACE = 60_000;

/** What a node is, whatever becomes of the process on it. */
interface SimulatedNode {
  readonly name: string;
  /** Addresses of the attachments that are there. */
  readonly live: Map<string, readonly Addr[]>;
  /** Attachments that the runtime wants to be rid of, or does not know what became of. */
  readonly doomed: Set<string>;
  readonly underway: Set<string>;
  presence: number;
  isLost: boolean;
  /** Changes whenever the node is lost: what was begun before does not count after. */
  life: number;
  client: SimulatedClient;
  /** What its process remembers; half of the nodes read everything each time instead. */
  blocks: NodeBlocks | undefined;
  crashed: PromiseWithResolvers<void>;
}

/** Runs a cluster to its end. @throws {AssertionError} as soon as something is not as it must be */
export async function runCluster(options: ClusterOptions): Promise<Tally> {
  const cluster = new SimulatedCluster(options);
  await cluster.simulation.run(cluster.run());
  return cluster.tally;
}

class SimulatedCluster {
  readonly simulation: Simulation;
  readonly tally: Record<string, number> = {};
  readonly #options: ClusterOptions;
  readonly #owners = new Map<string, string>();
  readonly #quiet: Store;
  #nodes: SimulatedNode[] = [];
  #stepsLeft: number;
  #names = 0;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#stepsLeft = options.steps;
    this.simulation = new Simulation({ seed: options.seed, pace: 200 });
    this.#quiet = this.simulation.client().store;
  }

  async run(): Promise<void> {
    await this.#setUp();
    await Promise.all([
      ...this.#nodes.flatMap((node) => [this.#live(node), this.#live(node)]),
      this.#watch(),
    ]);
    await this.#wrapUp();
  }

  async #setUp(): Promise<void> {
    const pools = [
      { name: 'v4', cidr: '10.0.0.0/27', blockSize: 29, reserved: ['10.0.0.0', '10.0.0.3'] },
      { name: 'v6', cidr: 'fd00::/123', blockSize: 125, reserved: [] },
    ];
    for (const { name, cidr, blockSize, reserved } of pools) {
      const [first, last] = reserved.map(Addr.parse);
      const ranges = first === undefined || last === undefined ? [] : [AddrRange.of(first, last)];
      await putPool(this.#quiet, { name, cidr: Prefix.parse(cidr), blockSize, reserved: ranges });
    }
    const strictAffinity = this.simulation.random() < 0.3;
    await putSettings(this.#quiet, { maxBlocksPerNode: 3, coolDownSeconds: 5, strictAffinity });
    for (const name of NODES) {
      const node: SimulatedNode = {
        name,
        live: new Map(),
        doomed: new Set(),
        underway: new Set(),
        presence: await this.#join(name),
        isLost: false,
        life: 0,
        client: this.simulation.client(FAULTS),
        blocks: undefined,
        crashed: Promise.withResolvers(),
      };
      this.#remember(node);
      this.#nodes.push(node);
    }
  }

  /** One of the tasks on a node; the process may die under it, and is started again. */
  async #live(node: SimulatedNode): Promise<void> {
    while (this.#stepsLeft-- > 0) await Promise.race([this.#step(node), node.crashed.promise]);
  }

  async #step(node: SimulatedNode): Promise<void> {
    const chance = this.simulation.random();
    if (chance < 0.42) return this.#add(node);
    if (chance < 0.72) return this.#delete(node);
    if (chance < 0.82) return this.#retry(node);
    if (chance < 0.9) return this.#tidy(node);
    if (chance < 0.93) return this.#collect(node);
    if (chance < 0.96) return this.#crash(node);
    if (chance < 0.97) return this.#lose(node);
    await this.simulation.sleep(this.simulation.random() * 20_000);
  }

  async #add(node: SimulatedNode): Promise<void> {
    const handle = `pods.c${++this.#names}.eth0`;
    const { life, client } = node;
    const families = ([[4], [6], [4, 6]] as const)[Math.floor(this.simulation.random() * 3)] ?? [4];
    const wanted = Addr.parse(`10.0.0.${Math.floor(this.simulation.random() * 32)}`);
    const addresses = this.simulation.random() < 0.1 && families[0] === 4 ? [wanted] : [];
    node.underway.add(handle);
    try {
      const request = { handle, families, addresses };
      const taken = await (node.blocks?.take(request) ?? allocateAddresses(this.#member(node), request));
      // The process may have died when the answer was there and nobody had heard it: the runtime knows of no success then.
      if (node.client !== client) return;
      node.underway.delete(handle);
      if (node.life !== life) return;
      const addrs = taken.map(({ address }) => address.addr);
      for (const addr of addrs) this.#own(addr, `${handle} on ${node.name}`);
      node.live.set(handle, addrs);
      this.#count('added');
    } catch (error) {
      node.underway.delete(handle);
      this.#countFailure('add', error);
      node.doomed.add(handle);
    }
  }

  async #delete(node: SimulatedNode): Promise<void> {
    const handles = [...node.live.keys()];
    const handle = handles[Math.floor(this.simulation.random() * handles.length)];
    if (handle === undefined) return;
    this.#forget(node, handle);
    node.doomed.add(handle);
    await this.#rid(node, handle);
  }

  async #retry(node: SimulatedNode): Promise<void> {
    const [handle] = node.doomed;
    if (handle !== undefined) await this.#rid(node, handle);
  }

  async #rid(node: SimulatedNode, handle: string): Promise<void> {
    try {
      await (node.blocks?.give(handle) ?? releaseHandle(this.#member(node), handle));
      node.doomed.delete(handle);
      this.#count('released');
    } catch (error) {
      this.#countFailure('release', error);
    }
  }

  async #tidy(node: SimulatedNode): Promise<void> {
    try {
      const keep = this.simulation.random() < 0.5 ? 0 : 1;
      this.#count('blocks given up', await releaseIdleBlocks(this.#member(node), { keep }));
    } catch (error) {
      this.#countFailure('tidy', error);
    }
  }

  /** The runtime forgets some of its doomed attachments: they leak, and only this finds them. */
  async #collect(node: SimulatedNode): Promise<void> {
    const known = new Set([...node.live.keys()]);
    const member = this.#member(node);
    const [forgotten] = node.doomed;
    if (forgotten !== undefined && this.simulation.random() < 0.5) node.doomed.delete(forgotten);
    try {
      if (this.#options.hasty === true) {
        const { handles } = await inspectStore(member.store);
        const unknown = handles.filter((each) => each.node === node.name && !known.has(each.handle));
        for (const { handle } of unknown) await releaseHandle(member, handle);
        return;
      }
      const leaks = new LeakWatch(member, GRACE);
      await leaks.observe(known);
      await this.simulation.sleep(GRACE + 1);
      this.#count('leaks', (await leaks.release(new Set(node.live.keys()))).length);
    } catch (error) {
      this.#countFailure('collect', error);
    }
  }

  #crash(node: SimulatedNode): void {
    this.#count('crashes');
    node.client.crash();
    for (const handle of node.underway) node.doomed.add(handle);
    node.underway.clear();
    const { resolve } = node.crashed;
    node.crashed = Promise.withResolvers();
    node.client = this.simulation.client(FAULTS);
    this.#remember(node);
    resolve();
  }

  /** A process begins, and remembers nothing. Its presence changes while it runs. */
  #remember(node: SimulatedNode): void {
    if (NODES.indexOf(node.name) % 2 === 0) return;
    const { store, ...member } = this.#member(node);
    const presence = () => ({ key: presenceKey(node.name), revision: node.presence });
    node.blocks = new NodeBlocks({
      ...member,
      store,
      get presence() {
        return presence();
      },
    });
  }

  /** The node's pods are dead, and its lease has run out; its process may still be there and not know. */
  async #lose(node: SimulatedNode): Promise<void> {
    if (node.isLost) return;
    node.isLost = true;
    this.#count('nodes lost');
    const { presence } = node;
    const others = this.#nodes.filter((other) => other !== node);
    const other = others[Math.floor(this.simulation.random() * others.length)] ?? node;
    const remover = this.#member(other);
    // Neither is stopped by a crash of the node or the remover.
    void this.#removeLost(node, presence, { ...remover, store: this.#quiet });
    await this.simulation.sleep(this.simulation.random() * 10_000);
  }

  async #removeLost(node: SimulatedNode, presence: number, remover: Member): Promise<void> {
    const key = presenceKey(node.name);
    await this.#quiet.commit({ conditions: [{ key, revision: presence }], changes: [{ delete: key }] });
    // Only now: what the node takes until then is as lost as what it had before.
    node.life++;
    for (const handle of [...node.live.keys()]) this.#forget(node, handle);
    node.doomed.clear();
    await this.simulation.sleep(this.simulation.random() * 20_000);
    if (this.simulation.random() < 0.7) {
      try {
        await removeNode(remover, node.name, { key, revision: 0 });
        this.#count('nodes removed');
      } catch (error) {
        this.#countFailure('remove', error);
      }
    }
    node.presence = await this.#join(node.name);
    node.isLost = false;
  }

  #join(name: string): Promise<number> {
    return this.#quiet.commit({ changes: [{ put: presenceKey(name), value: name }] });
  }

  #member(node: SimulatedNode): Member {
    const { store } = node.client;
    return {
      store: this.#options.sabotage?.(store) ?? store,
      node: node.name,
      now: () => this.simulation.now(),
      presence: { key: presenceKey(node.name), revision: node.presence },
    };
  }

  #own(addr: Addr, owner: string): void {
    const before = this.#owners.get(addr.toString());
    assert.equal(before, undefined, `${addr} is given to ${owner}, and ${before} has it`);
    this.#owners.set(addr.toString(), owner);
  }

  #forget(node: SimulatedNode, handle: string): void {
    for (const addr of node.live.get(handle) ?? []) this.#owners.delete(addr.toString());
    node.live.delete(handle);
  }

  /** Looks at the store again and again: whoever has an address in the ledger must have it there. */
  async #watch(): Promise<void> {
    let seen = 0;
    while (this.#stepsLeft > 0) {
      await this.simulation.sleep(2000);
      if (this.simulation.served - seen < 500) continue;
      seen = this.simulation.served;
      await this.#compare();
    }
  }

  async #compare(): Promise<void> {
    const { problems, handles } = await inspectStore(snapshot(this.simulation));
    assert.deepEqual(problems, []);
    const held = new Set(
      handles.flatMap(({ handle, node, addresses }) =>
        addresses.map(({ addr }) => `${addr} ${handle} on ${node}`),
      ),
    );
    for (const [addr, owner] of this.#owners) {
      assert.ok(held.has(`${addr} ${owner}`), `${addr} of ${owner}, which is there, was freed`);
    }
  }

  async #wrapUp(): Promise<void> {
    // Until every node is back that was lost.
    await this.simulation.sleep(600_000);
    await this.#compare();
    for (const node of this.#nodes) {
      this.#crash(node);
      node.client.faults = { refuse: 0, loseAnswer: 0 };
      const leaks = new LeakWatch(this.#member(node), GRACE);
      await leaks.observe(new Set(node.live.keys()));
      await this.simulation.sleep(GRACE + 1);
      await leaks.release(new Set(node.live.keys()));
    }
    await this.#compare();
    const { handles } = await inspectStore(this.#quiet);
    const live = this.#nodes.flatMap((node) => [...node.live.keys()]);
    assert.deepEqual(handles.map(({ handle }) => handle).sort(), live.sort(), 'nothing is leaked');
    for (const node of this.#nodes) {
      for (const handle of [...node.live.keys()]) {
        this.#forget(node, handle);
        await releaseHandle(this.#member(node), handle);
      }
    }
    await this.simulation.sleep(120_000);
    for (const node of this.#nodes) {
      const { name } = node;
      await releaseIdleBlocks(this.#member(node), { keep: 0 });
      const { entries } = await this.#quiet.list('/heddle/ipam/affinities/');
      const left = entries.filter(({ key }) => key.startsWith(`/heddle/ipam/affinities/${name}/`));
      assert.deepEqual(left, [], `node ${name} keeps nothing`);
    }
    const { pools } = await inspectStore(this.#quiet);
    for (const { blocks } of pools) {
      for (const { node, held } of blocks)
        assert.ok(node === undefined && held === 0, 'only orphans are left');
    }
  }

  #count(what: string, times = 1): void {
    this.tally[what] = (this.tally[what] ?? 0) + times;
  }

  #countFailure(what: string, error: unknown): void {
    if (!(error instanceof HeddleError)) throw error;
    this.#count(`${what}: ${error.code}`);
  }
}

/** The store at this moment: nothing comes between. */
function snapshot({ database }: Simulation): Store {
  const refuse = (): never => assert.fail('only looks');
  return {
    get: async (key) => database.get(key),
    list: async (prefix) => database.list(prefix),
    commit: refuse,
    watch: refuse,
    grantLease: refuse,
    keepAlive: refuse,
    revokeLease: refuse,
    async [Symbol.asyncDispose]() {},
  };
}

function presenceKey(node: string): string {
  return `/heddle/nodes/${node}`;
}
