/** Nodes of Flannel that reach each other by plain routes become nodes of Heddle; one is lost for good before its turn comes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningLab, specOf } from '@heddle/lab';
import { until } from '../support/until.ts';
import { heddleProgram, startLab } from './cluster-lab.ts';
import {
  addPod,
  heddle,
  must,
  nodeState,
  reaches,
  type StagedPod,
  type Stream,
  stageFlannel,
  stream,
  subnetsOf,
} from './flannel-nodes.ts';

const STORE = 'sqlite:///run/lab/store.db';
const TAKEN_OVER = ['node1', 'node2'];
let lab: RunningLab;
const old: StagedPod[] = [];
const fresh: StagedPod[] = [];
const streams: Stream[] = [];

before(async () => {
  lab = await startLab(specOf({ nodes: 3, pods: 0, network: { wiring: 'by-hand' } }));
  await stageFlannel(lab, 3, 'host-gw');
  for (const number of [1, 2, 3]) old.push(await addPod(lab, `node${number}`, 'cbr0', `old${number}`));
});

after(async () => {
  await lab.down();
});

async function assertReachEachOther(pods: readonly StagedPod[]): Promise<void> {
  for (const from of pods) {
    for (const { name, addresses } of pods.filter((each) => each !== from)) {
      for (const address of addresses) {
        assert.ok(await reaches(lab, from, address), `${from.name} to ${name} at ${address}`);
      }
    }
  }
}

/** The size of the largest packet that a pod may send. */
async function mtuOf({ node, name }: StagedPod): Promise<number> {
  const shown = await must(lab, node, 'ip', 'netns', 'exec', name, 'ip', '-j', 'link', 'show', 'eth0');
  return (JSON.parse(shown) as { mtu: number }[])[0]?.mtu ?? 0;
}

/** The routes of a node to those subnets, of which parts can be others' as well. */
async function routesTo(node: string, number: number): Promise<readonly string[]> {
  const found = await Promise.all(
    subnetsOf(number).map((subnet) => must(lab, node, 'ip', 'route', 'show', 'root', subnet)),
  );
  return found.flatMap((text) => text.trim().split('\n').filter(Boolean));
}

const finish = (node: string, ...args: readonly string[]) =>
  lab.ask('run', { on: node, command: [...heddleProgram(), 'migrate', 'flannel', '--finish', ...args] });

test('nodes are taken over as they are, without an overlay, and pods go on sending', async () => {
  await assertReachEachOther(old);
  for (const [from, to] of [
    [0, 1],
    [1, 0],
    [0, 2],
    [2, 1],
  ] as const) {
    const sender = old[from] ?? assert.fail();
    for (const address of old[to]?.addresses ?? []) streams.push(await stream(lab, sender, address));
  }
  for (const node of TAKEN_OVER) {
    const plan = JSON.parse(
      await heddle(lab, node, 'migrate', 'flannel', '--store', STORE, '--name', node, '-o', 'json'),
    );
    assert.deepEqual(plan.overlays, []);
    const isFirst = node === 'node1';
    assert.deepEqual(
      plan.pools.map(({ encapsulation }: { encapsulation: string }) => encapsulation),
      isFirst ? ['never', 'never'] : [],
    );
    fresh.push(await addPod(lab, node, 'heddle', `new-${node}`));
    assert.equal(await mtuOf(fresh.at(-1) ?? assert.fail()), 1500);
    await assertReachEachOther([...old, ...fresh]);
    assert.doesNotMatch(await must(lab, node, 'ip', '-o', 'link'), /heddle-/);
  }
  // Of each family: Flannel's for the whole, and Heddle's for the parts.
  await until('the routes to the parts', async () => (await routesTo('node1', 2)).length > 2 || undefined);
  const ended = await Promise.all(
    streams.splice(0).map(async ({ what, end }) => ({ what, ...(await end()) })),
  );
  assert.ok(ended.every(({ sent }) => sent > 20));
  // The last one may have been under way.
  assert.deepEqual(
    ended.filter(({ sent, answered }) => answered < sent - 1),
    [],
  );
});

test('a node that is lost before its turn keeps the others from ending it, unless that is asked for', async () => {
  await lab.ask('cut', { node: 'node3' });
  for (const { node, name } of old.splice(0, 2)) await heddle(lab, node, 'del', 'cbr0', name);
  const before = await nodeState(lab, 'node1');
  const refused = await finish('node1');
  assert.equal(refused.status, 3, refused.stderr);
  assert.match(refused.stderr, /nothing was changed: other nodes are reached by the former network: /);
  for (const subnet of subnetsOf(3)) assert.ok(refused.stderr.includes(subnet), refused.stderr);
  assert.doesNotMatch(refused.stderr, /10\.244\.2\./);
  assert.match(refused.stderr, /--force for nodes that are gone/);
  assert.equal(await nodeState(lab, 'node1'), before);

  for (const node of TAKEN_OVER) {
    const { status, stdout, stderr } = await finish(node, '--force', '-o', 'json');
    assert.equal(status, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), { removed: ['cni0'], last: node === 'node2' });
    assert.deepEqual(await routesTo(node, 3), []);
    assert.doesNotMatch(await must(lab, node, 'ip', '-o', 'link'), /cni0/);
    await assertReachEachOther(fresh);
  }
});

test('what was ended can be ended again, and nodes give addresses as they need them', async () => {
  for (const node of TAKEN_OVER) {
    const { stdout } = await finish(node, '-o', 'json');
    assert.deepEqual(JSON.parse(stdout), { removed: [], last: true });
    fresh.push(await addPod(lab, node, 'heddle', `late-${node}`));
  }
  await assertReachEachOther(fresh);
  const all = fresh.flatMap(({ addresses }) => addresses);
  assert.equal(new Set(all).size, all.length, all.join(' '));
  await heddle(lab, 'node1', 'ipam', 'check');
});
