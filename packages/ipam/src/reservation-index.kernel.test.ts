import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { allocate, fileStore, IpamError, ReservationIndexes, release, resolveRangeSets } from './index.ts';

const rangeSets = resolveRangeSets([[{ subnet: Prefix.parse('10.1.2.0/24') }]]);
const owner = (n: number) => ({ containerID: `c${n}`, ifName: 'eth0' });

/** A directory, and its store with what is remembered of it. */
function remembered() {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-index-'));
  const indexes = new ReservationIndexes();
  const store = fileStore({ directory, indexes });
  const add = async (n: number) =>
    `${(await allocate(store, { rangeSets, owner: owner(n) }))[0]?.address.addr}`;
  return { directory, store, add, end: () => rmSync(directory, { recursive: true, force: true }) };
}

/** As the reference's plugin reserves. */
function reserveForeign(directory: string, address: string, n: number): void {
  writeFileSync(join(directory, address), `c${n}\r\neth0`, { flag: 'wx' });
}

test('own reservations are known, taken and given back as they are in the directory', async (t) => {
  const { directory, store, add, end } = remembered();
  t.after(end);
  assert.deepEqual([await add(1), await add(2)], ['10.1.2.2', '10.1.2.3']);
  await assert.rejects(add(1), (error) => IpamError.is(error, 'IPAM_DUPLICATE'));
  assert.deepEqual((await release(store, owner(1))).map(String), ['10.1.2.2']);
  assert.deepEqual(await release(store, owner(1)), []);
  assert.equal(await add(1), '10.1.2.4');
  const names = readdirSync(directory).filter((name) => Addr.tryParse(name) !== undefined);
  assert.deepEqual(names.sort(), ['10.1.2.3', '10.1.2.4']);
});

test('what others reserve and release beside is seen at once', async (t) => {
  const { directory, store, add, end } = remembered();
  t.after(end);
  assert.equal(await add(1), '10.1.2.2');
  reserveForeign(directory, '10.1.2.3', 7);
  assert.equal(await add(2), '10.1.2.4');
  await assert.rejects(add(7), /10\.1\.2\.3 has been allocated to c7, duplicate allocation is not allowed/);
  unlinkSync(join(directory, '10.1.2.3'));
  assert.equal(await add(7), '10.1.2.5');
  unlinkSync(join(directory, '10.1.2.2'));
  assert.deepEqual(await release(store, owner(1)), []);
  assert.equal(await add(1), '10.1.2.6');
});

test('a store without an index and one with it take turns', async (t) => {
  const { directory, store, add, end } = remembered();
  t.after(end);
  const plain = fileStore({ directory });
  const taken = new Set<string>();
  for (let n = 0; n < 20; n++) {
    taken.add(await add(n));
    const [other] = await allocate(plain, { rangeSets, owner: owner(100 + n) });
    taken.add(`${other?.address.addr}`);
    if (n % 3 === 0) for (const addr of await release(plain, owner(n))) taken.delete(String(addr));
    if (n % 4 === 0) for (const addr of await release(store, owner(100 + n))) taken.delete(String(addr));
  }
  assert.deepEqual(
    store
      .list()
      .map(({ addr }) => String(addr))
      .sort(),
    [...taken].sort(),
  );
});

test('a directory that is removed or put in the place of another is read anew', async (t) => {
  const { directory, add, end } = remembered();
  t.after(end);
  assert.equal(await add(1), '10.1.2.2');
  rmSync(directory, { recursive: true });
  assert.equal(await add(1), '10.1.2.2');
  const other = mkdtempSync(join(tmpdir(), 'heddle-index-'));
  reserveForeign(other, '10.1.2.3', 9);
  renameSync(directory, `${directory}.old`);
  t.after(() => rmSync(`${directory}.old`, { recursive: true }));
  renameSync(other, directory);
  assert.equal(await add(1), '10.1.2.2');
  assert.equal(await add(2), '10.1.2.4');
  assert.ok(existsSync(join(directory, '10.1.2.3')));
});
