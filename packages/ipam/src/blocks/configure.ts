/** Pools and settings: how they get into the store. */
import type { Store } from '@heddle/store';
import { IpamError } from '../ipam-error.ts';
import { read, readAll } from './member.ts';
import {
  checkChange,
  checkPools,
  type Pool,
  type PoolConfig,
  resolvePool,
  type Surroundings,
} from './pool.ts';
import { DEFAULT_SETTINGS, type IpamSettings, KEYS, poolCodec, settingsCodec } from './records.ts';

/**
 * Adds a pool, or changes the one of its name. Nodes use it from their next allocation on.
 *
 * @throws {IpamError} IPAM_POOL_INVALID when the pool is not valid, overlaps another one or its surroundings, or
 *   would have other blocks than before
 * @throws {StoreError} STORE_CONFLICT when somebody else changed pools at the same time
 */
export async function putPool(store: Store, config: PoolConfig, around: Surroundings = {}): Promise<Pool> {
  const pool = resolvePool(config);
  const generation = await store.get(KEYS.poolChanges);
  const others = (await readAll(store, poolCodec, KEYS.pools)).map(({ value }) => value);
  const key = KEYS.pool(pool.name);
  const before = await read(store, poolCodec, key);
  if (before !== undefined) checkChange(before.value, pool);
  checkPools([...others.filter(({ name }) => name !== pool.name), pool], around);
  await store.commit({
    conditions: [
      { key, revision: before?.revision ?? 0 },
      { key: KEYS.poolChanges, revision: generation?.revision ?? 0 },
    ],
    changes: [
      { put: key, value: poolCodec.encode(pool) },
      { put: KEYS.poolChanges, value: '' },
    ],
  });
  return pool;
}

/**
 * Removes a pool that no block is left of.
 *
 * @throws {IpamError} IPAM_POOL_INVALID when there are blocks, or there is no such pool
 * @throws {StoreError} STORE_CONFLICT when a node claimed a block of some pool at the same time
 */
export async function removePool(store: Store, name: string): Promise<void> {
  const key = KEYS.pool(name);
  const claims = await store.get(KEYS.claims);
  const pool = await read(store, poolCodec, key);
  if (pool === undefined) throw new IpamError('IPAM_POOL_INVALID', `pool ${name}: there is no such pool`);
  if (!pool.value.disabled) {
    throw new IpamError('IPAM_POOL_INVALID', `pool ${name}: it is in use`, { hint: 'disable it first' });
  }
  const { entries } = await store.list(KEYS.blocksOf(name));
  if (entries.length > 0) {
    throw new IpamError('IPAM_POOL_INVALID', `pool ${name}: nodes have ${entries.length} blocks of it`, {
      hint: 'wait until its pods are gone and the blocks were given up',
    });
  }
  await store.commit({
    conditions: [
      { key, revision: pool.revision },
      { key: KEYS.claims, revision: claims?.revision ?? 0 },
    ],
    changes: [{ delete: key }],
  });
}

/** Changes settings; those that are left out stay. @throws {StoreError} STORE_CONFLICT, STORE_VALUE_INVALID */
export async function putSettings(store: Store, changes: Partial<IpamSettings>): Promise<IpamSettings> {
  const key = KEYS.settings;
  const before = await read(store, settingsCodec, key);
  const value = settingsCodec.encode({ ...(before?.value ?? DEFAULT_SETTINGS), ...changes });
  const settings = settingsCodec.decode({ key, value });
  await store.commit({
    conditions: [{ key, revision: before?.revision ?? 0 }],
    changes: [{ put: key, value }],
  });
  return settings;
}
