/** A machine whose pods have addresses of host-local becomes a node, and one that it was again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specOf } from '@heddle/lab';
import { heddleProgram, startLab } from './cluster-lab.ts';
import { addPod, heddle, must, nodeState, reaches } from './flannel-nodes.ts';

test('ptp with host-local is taken over, and given back by heddle down', async () => {
  await using lab = await startLab(specOf({ nodes: 1, pods: 0, network: { wiring: 'by-hand' } }));
  const old = await addPod(lab, 'node1', 'by-hand', 'old');
  const plan = JSON.parse(await heddle(lab, 'node1', 'migrate', 'host-local', '-o', 'json'));
  assert.equal(plan.bridge, null);
  assert.deepEqual(
    plan.pods.map(({ address }: { address: string }) => address).sort(),
    old.addresses.toSorted(),
  );
  assert.equal((await must(lab, 'node1', 'ls', '/etc/cni/net.d')).trim(), '10-heddle.conflist');
  const fresh = await addPod(lab, 'node1', 'heddle', 'fresh');
  assert.ok(!fresh.addresses.some((address) => old.addresses.includes(address)));
  for (const address of fresh.addresses) assert.ok(await reaches(lab, old, address), address);
  for (const address of old.addresses) assert.ok(await reaches(lab, fresh, address), address);
  await heddle(lab, 'node1', 'del', 'heddle', 'fresh');
  await heddle(lab, 'node1', 'down');
  assert.equal((await must(lab, 'node1', 'ls', '/etc/cni/net.d')).trim(), '10-by-hand.conflist');
  const again = await addPod(lab, 'node1', 'by-hand', 'again');
  for (const address of again.addresses) assert.ok(await reaches(lab, old, address), address);
});

test('a node that cannot be taken over to the end is as it was, and can be later', async () => {
  await using lab = await startLab(specOf({ nodes: 1, pods: 0, network: { wiring: 'by-hand' } }));
  const old = await addPod(lab, 'node1', 'by-hand', 'old');
  // The configuration cannot be put aside, which comes last.
  await must(lab, 'node1', 'sh', '-ec', 'mkdir -p /etc/heddle; echo mine > /etc/heddle/former');
  const planned = () => heddle(lab, 'node1', 'migrate', 'host-local', '--dry-run', '-o', 'json');
  const [plan, before] = [await planned(), await nodeState(lab, 'node1')];
  const command = [...heddleProgram(), 'migrate', 'host-local'];
  const services = await lab.ask('run', {
    ...{ on: 'node1', command: [...command, '--service-cidr', '10.240.0.0/12'] },
  });
  assert.notEqual(services.status, 0);
  assert.match(services.stderr, /overlaps 10\.240\.0\.0\/12, the range of services/);
  const { status, stderr } = await lab.ask('run', { on: 'node1', command });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /\/etc\/heddle\/former/);
  assert.equal(await nodeState(lab, 'node1'), before);
  assert.equal(await planned(), plan);
  const meanwhile = await addPod(lab, 'node1', 'by-hand', 'meanwhile');
  for (const address of meanwhile.addresses) assert.ok(await reaches(lab, old, address), address);
  await must(lab, 'node1', 'rm', '/etc/heddle/former');
  await heddle(lab, 'node1', 'migrate', 'host-local');
  const fresh = await addPod(lab, 'node1', 'heddle', 'fresh');
  for (const address of fresh.addresses) assert.ok(await reaches(lab, old, address), address);
});
