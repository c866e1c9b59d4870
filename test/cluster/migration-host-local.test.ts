/** A machine whose pods have addresses of host-local becomes a node, and one that it was again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specOf } from '@heddle/lab';
import { startLab } from './cluster-lab.ts';
import { addPod, heddle, must, reaches } from './flannel-nodes.ts';

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
