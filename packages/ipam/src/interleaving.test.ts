import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import fc from 'fast-check';
import { allocate } from './allocate.ts';
import { fileStore } from './file-store.ts';
import { rangeOf, resolveRangeSets } from './range-set.ts';
import { release, releaseStale } from './release.ts';
import type { ReservationStore } from './store.ts';
import { memoryStore } from './testing/index.ts';

const sets = resolveRangeSets([
  [{ subnet: Prefix.parse('10.0.0.0/29') }, { subnet: Prefix.parse('10.0.1.0/30') }],
  [{ subnet: Prefix.parse('2001:db8::/125') }],
]);

/** What one container does, step by step: ask for some address or a certain one, or give back what it has. */
const step = fc.oneof(fc.record({ ask: fc.option(fc.nat(9)) }), fc.constant('release' as const));
const containers = fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 12 });

test('whoever does what in whatever order: no address ever has two owners, none is lost', async () => {
  await fc.assert(fc.asyncProperty(containers, (all) => interleave(memoryStore(), all)));
});

test('the same on files', async () => {
  const property = fc.asyncProperty(containers, async (all) => {
    const directory = mkdtempSync(join(tmpdir(), 'heddle-ipam-'));
    try {
      await interleave(fileStore({ directory, warn: (message) => assert.fail(message) }), all);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
  await fc.assert(property, { numRuns: 25 });
});

type Steps = typeof containers extends fc.Arbitrary<infer T> ? T : never;

async function interleave(store: ReservationStore, all: Steps): Promise<void> {
  const holders = new Map<string, string>();
  await Promise.all(all.map((steps, index) => live(store, `c${index}`, steps, holders)));

  const held = store.list();
  assert.deepEqual(held.map(({ addr }) => addr.toString()).sort(), [...holders.keys()].sort());
  for (const { addr, owner } of held) {
    assert.equal(holders.get(addr.toString()), owner?.containerID);
    const range = sets.map((set) => rangeOf(set, addr)).find((found) => found !== undefined);
    assert.ok(range !== undefined && !range.gateway?.equals(addr), `${addr} must not be given`);
  }
  await releaseStale(store, held);
  assert.deepEqual(store.list(), []);
}

async function live(
  store: ReservationStore,
  containerID: string,
  steps: Steps[number],
  holders: Map<string, string>,
): Promise<void> {
  const owner = { containerID, ifName: 'eth0' };
  for (const todo of steps) {
    if (todo === 'release') {
      for (const [addr, holder] of holders) if (holder === containerID) holders.delete(addr);
      await release(store, owner);
      continue;
    }
    const requested = todo.ask === null ? [] : [Addr.parse(`10.0.0.${todo.ask}`)];
    const given = await allocate(store, { rangeSets: sets, owner, requested }).catch(() => []);
    for (const { address } of given) {
      assert.equal(holders.get(address.addr.toString()), undefined, `${address.addr} was given twice`);
      holders.set(address.addr.toString(), containerID);
    }
  }
}
