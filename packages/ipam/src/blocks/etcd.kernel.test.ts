import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Prefix } from '@heddle/netaddr';
import { StoreError } from '@heddle/store';
import { openEtcd } from '@heddle/store/etcd';
import { EtcdCluster, etcdMissing } from '@heddle/store/testing';
import { allocateAddresses, inspectStore, putPool, putSettings, releaseHandle } from './index.ts';

test('on three members of etcd that are killed in turn: no two owners, and what was given is kept', {
  skip: etcdMissing(),
}, async () => {
  await using cluster = await EtcdCluster.start({ size: 3 });
  await using store = openEtcd(cluster);
  await persist(() => putPool(store, { name: 'v4', cidr: Prefix.parse('10.0.0.0/24'), blockSize: 28 }));
  await persist(() => putPool(store, { name: 'v6', cidr: Prefix.parse('fd00::/120'), blockSize: 124 }));
  await persist(() => putSettings(store, { coolDownSeconds: 0 }));

  const live = new Map<string, string>();
  const node = async (name: string) => {
    await using own = openEtcd(cluster);
    const member = { store: own, node: name, now: Date.now };
    for (let n = 0; n < 24; n++) {
      const handle = `pods.${name}-${n}.eth0`;
      const taken = await persist(() => allocateAddresses(member, { handle, families: [4, 6] }));
      for (const { address } of taken) {
        assert.equal(live.get(String(address)), undefined, `${address} is given twice`);
        live.set(String(address), handle);
      }
      if (n % 3 !== 0) continue;
      for (const { address } of taken) live.delete(String(address));
      await persist(() => releaseHandle(member, handle));
    }
  };
  let done = false;
  const kill = async () => {
    for (let n = 0; !done; n = (n + 1) % 3) {
      await cluster.kill(n);
      await pause(300);
      cluster.resume(n);
      await persist(() => store.list('/heddle/ipam/pools/'));
    }
  };
  const killing = kill();
  try {
    await Promise.all(['n1', 'n2', 'n3'].map(node));
  } finally {
    done = true;
    await killing;
  }
  const { handles, problems } = await persist(() => inspectStore(store));
  assert.deepEqual(problems, []);
  const held = handles.flatMap(({ handle, addresses }) =>
    addresses.map(({ addr }) => `${Prefix.host(addr)} ${handle}`),
  );
  assert.deepEqual(held.sort(), [...live].map(([address, handle]) => `${address} ${handle}`).sort());
});

/** Asks until the store is there. */
async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!StoreError.is(error, 'STORE_UNAVAILABLE', 'STORE_CONFLICT')) throw error;
      await pause(50);
    }
  }
}
