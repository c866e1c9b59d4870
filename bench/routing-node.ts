/**
 * One node of a large cluster, in a process of its own; prints what was measured as JSON. See `bench/routing.ts`.
 *
 *   node --conditions=source --expose-gc bench/routing-node.ts NODES PODS
 */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { Prefix } from '@heddle/netaddr';
import { FakeKernel } from '@heddle/netlink/testing';
import { joinCluster, startRouter } from '@heddle/routing';
import { blockMoves, changesOf, fillStore, nodeLeaves, podGoes } from '@heddle/routing/testing';
import type { Change, Store } from '@heddle/store';
import { memoryStore } from '@heddle/store/testing';

/** What was measured. */
export interface SimulatedNode {
  readonly start: Start;
  /** The same once more, in the kernel as it was left. */
  readonly restart: Start;
  /** Bytes. */
  readonly memory: { readonly node: number; readonly kernel: number };
  readonly followed: readonly Following[];
}

/** Until a node has all its routes; milliseconds. */
export interface Start {
  /** Messages that change something. */
  readonly changes: number;
  readonly elapsed: number;
  readonly processor: number;
  /** How much of the processor time was the kernel's. */
  readonly kernel: number;
}

/** How one kind of change was followed; milliseconds. */
export interface Following {
  readonly what: string;
  /** Messages that change something, for each change. */
  readonly changes: number;
  /** From when the store told of it to when the last message was sent; none where there was no message. */
  readonly delays: readonly number[];
  /** Processor time from when the store told of it, without the kernel's. */
  readonly processor: readonly number[];
}

/** So many of each kind. */
const ROUNDS = 50;
/** By convention, the low two bits of a message's type say what it does. */
const GET = 2;
const QUIET_TURNS = 50;

if (import.meta.main) console.log(JSON.stringify(await simulate(process.argv.slice(2).map(Number))));

async function simulate([nodes = 0, pods = 0]: readonly number[]): Promise<SimulatedNode> {
  const sent = { changes: 0, at: 0, kernel: 0 };
  const told = { at: 0, processor: 0, kernel: 0 };
  const kernel = new FakeKernel({
    around({ messages }, carryOut) {
      const changes = messages.filter(({ type }) => (type & 3) !== GET).length;
      if (changes > 0) sent.at = performance.now();
      sent.changes += changes;
      const began = processorTime();
      carryOut();
      sent.kernel += processorTime() - began;
    },
  });
  const store = memoryStore({ history: 100_000 });
  await fillStore(store, { nodes, podsPerNode: pods });
  const session = kernel.session('host');
  await session.links.add({ name: 'eth0', kind: 'dummy', up: true });
  await session.addresses.add({ link: 'eth0', prefix: Prefix.parse('172.31.255.1/12') });

  const empty = heap();
  const { took: first, whole } = await startOnce();
  // Its last timers end by themselves.
  await pause(5_000);
  const left = heap() - empty;
  const { took: second, node } = await start();
  await using _node = node;
  return {
    ...{ start: first, restart: second },
    memory: { node: whole - left, kernel: left },
    followed: [
      await follow('a node joins', (round) => changesOf(nodes + round, pods)),
      await follow("a node's address changes", (round) =>
        changesOf(nodes + round, pods, { hasMoved: true }).slice(0, 1),
      ),
      await follow("a node's MTU changes", (round) => changesOf(round, pods, { mtu: 1400 }).slice(0, 1)),
      await follow('a block moves', (round) => blockMoves(round, nodes + round, pods)),
      await follow("another node's pod goes", (round) => podGoes(round, pods)),
      await follow('a node leaves', (round) => nodeLeaves(nodes + round, pods)),
    ],
  };

  /** In a function of its own: nothing of that node is left when it has returned. */
  async function startOnce(): Promise<{ readonly took: Start; readonly whole: number }> {
    const { took, node } = await start();
    const whole = heap() - empty;
    await node[Symbol.asyncDispose]();
    return { took, whole };
  }

  async function start(): Promise<{ readonly took: Start; readonly node: AsyncDisposable }> {
    const began = { ...sent, at: performance.now(), processor: processorTime() };
    const node = new AsyncDisposableStack();
    const options = { store: telling(store, hear), session };
    const own = { name: 'own', instance: 'own', version: '1' };
    const membership = node.use(await joinCluster({ ...options, ...own }));
    const router = node.use(await startRouter({ ...options, membership, resyncSeconds: 3600 }));
    // Until then others take the place of the node's own tunnel addresses.
    while (membership.record.tunnel.addresses.length === 0) await pause(10);
    await router.resync();
    const { problems } = router.status();
    if (problems.length > 0) throw new Error(`not as it should be: ${JSON.stringify(problems[0])}`);
    const took = {
      changes: sent.changes - began.changes,
      elapsed: performance.now() - began.at,
      processor: processorTime() - began.processor,
      kernel: sent.kernel - began.kernel,
    };
    return { took, node };
  }

  function hear(): void {
    if (told.at > 0) return;
    Object.assign(told, { at: performance.now(), processor: processorTime(), kernel: sent.kernel });
  }

  async function follow(what: string, changes: (round: number) => readonly Change[]): Promise<Following> {
    const delays: number[] = [];
    const processor: number[] = [];
    const before = sent.changes;
    for (let round = 0; round < ROUNDS; round++) {
      const commit = { changes: changes(round) };
      const began = sent.changes;
      told.at = 0;
      await store.commit(commit);
      await untilQuiet();
      if (told.at === 0) throw new Error(`${what}: the store did not tell of it`);
      processor.push(processorTime() - told.processor - (sent.kernel - told.kernel));
      if (sent.changes > began) delays.push(sent.at - told.at);
    }
    return { what, changes: (sent.changes - before) / ROUNDS, delays, processor };
  }

  /** Until nothing was sent for some turns of the event loop: nothing else in this process is waited for. */
  async function untilQuiet(): Promise<void> {
    for (let quiet = 0, last = sent.changes; quiet < QUIET_TURNS; quiet++) {
      await turn();
      if (sent.changes !== last) quiet = 0;
      last = sent.changes;
    }
  }
}

/** The same store, which says when one of its watches tells of something. */
function telling(store: Store, onNews: () => void): Store {
  return {
    ...store,
    async *watch(prefix, after, options) {
      for await (const batch of store.watch(prefix, after, options)) {
        onNews();
        yield batch;
      }
    },
  };
}

/** Milliseconds, of all threads. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
