import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { flock, O, openFile } from '@heddle/sys';
import { allocate } from './allocate.ts';
import { fileStore } from './file-store.ts';
import { resolveRangeSets } from './range-set.ts';
import { release } from './release.ts';

const sets = resolveRangeSets([
  [{ subnet: Prefix.parse('10.1.2.0/24') }],
  [{ subnet: Prefix.parse('2001:db8:1::/64') }],
]);
const c1 = { containerID: 'c1', ifName: 'eth0' };

let root: string;
let directory: string;
let warnings: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'heddle-ipam-'));
  directory = join(root, 'networks', 'n1');
  warnings = [];
});
afterEach(() => rmSync(root, { recursive: true }));

const open = () => fileStore({ directory, warn: (message) => warnings.push(message) });
const add = (owner = c1) => allocate(open(), { rangeSets: sets, owner });
const content = (name: string) => readFileSync(join(directory, name), 'latin1');
const mode = (name: string) => (statSync(join(directory, name)).mode & 0o777).toString(8);
function plant(name: string, text: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), text);
}

describe('the files', () => {
  test("are the reference's, byte for byte", async () => {
    await add();
    assert.deepEqual(readdirSync(directory).sort(), [
      '10.1.2.2',
      '2001:db8:1::2',
      'last_reserved_ip.0',
      'last_reserved_ip.1',
      'lock',
    ]);
    assert.equal(content('10.1.2.2'), 'c1\r\neth0');
    assert.equal(content('2001:db8:1::2'), 'c1\r\neth0');
    assert.equal(content('last_reserved_ip.0'), '10.1.2.2');
    assert.equal(content('last_reserved_ip.1'), '2001:db8:1::2');
    assert.equal(content('lock'), '');
    assert.equal(mode('10.1.2.2'), '600');
    assert.equal(mode('last_reserved_ip.0'), '600');
    assert.equal(mode('lock'), (0o750 & ~process.umask()).toString(8));
    assert.deepEqual(warnings, []);
  });

  test('of a released owner go, the others stay', async () => {
    await add();
    await add({ containerID: 'c2', ifName: 'eth0' });
    await release(open(), c1);
    assert.deepEqual(
      open()
        .list()
        .map(({ addr, owner }) => `${addr} ${owner?.containerID}`)
        .sort(),
      ['10.1.2.3 c2', '2001:db8:1::3 c2'],
    );
  });

  test('tell when a reservation was made', async () => {
    const before = Date.now() - 1000;
    await add();
    for (const { createdAt } of open().list()) assert.ok(createdAt > before && createdAt < Date.now() + 1000);
  });

  test('in the oldest format are understood, white space around them too', async () => {
    plant('10.1.2.2', ' c1\n');
    plant('10.1.2.3', 'c2\r\neth0\n');
    assert.deepEqual(
      open()
        .list()
        .map(({ owner }) => owner),
      [{ containerID: 'c1' }, { containerID: 'c2', ifName: 'eth0' }],
    );
    await assert.rejects(add(), { code: 'IPAM_DUPLICATE' });
    assert.deepEqual((await release(open(), { containerID: ' c1 ', ifName: 'eth0' })).map(String), [
      '10.1.2.2',
    ]);
  });

  test('that are something else are left alone', async () => {
    plant('README', 'c1\r\neth0');
    await add();
    await release(open(), c1);
    assert.equal(content('README'), 'c1\r\neth0');
  });

  test('are not made by looking, or by giving back what is not there', async () => {
    assert.deepEqual(open().list(), []);
    assert.deepEqual(await release(open(), c1), []);
    assert.ok(!existsSync(directory));
  });

  test('with a marker that makes no sense start at the beginning', async () => {
    plant('last_reserved_ip.0', 'nonsense');
    plant('last_reserved_ip.1', '');
    assert.deepEqual(
      (await add()).map(({ address }) => `${address}`),
      ['10.1.2.2/24', '2001:db8:1::2/64'],
    );
  });
});

describe('remnants', () => {
  test('a file without an owner is reclaimed, and that is said', async () => {
    plant('10.1.2.2', '');
    plant('10.1.2.3', ' \r\n');
    assert.deepEqual(
      open()
        .list()
        .map(({ owner }) => owner),
      [undefined, undefined],
    );
    assert.deepEqual(
      (await add()).map(({ address }) => `${address}`),
      ['10.1.2.2/24', '2001:db8:1::2/64'],
    );
    assert.deepEqual(warnings, [
      `${directory}: reclaimed 10.1.2.2, whose reservation names no owner`,
      `${directory}: reclaimed 10.1.2.3, whose reservation names no owner`,
    ]);
  });

  test('a draft of a process that died is removed without harm to what it became', async () => {
    plant('10.1.2.2', 'c9\r\neth0');
    linkSync(join(directory, '10.1.2.2'), join(directory, '.heddle-draft'));
    await add();
    assert.equal(content('10.1.2.2'), 'c9\r\neth0');
    assert.equal(content('10.1.2.3'), 'c1\r\neth0');
    assert.deepEqual(warnings, [`${directory}: removed an unfinished reservation`]);
    assert.ok(!existsSync(join(directory, '.heddle-draft')));
  });

  test("a directory or a pipe named like an address is nobody's, and keeps nobody from giving back", async () => {
    await add();
    mkdirSync(join(directory, '10.1.2.9'));
    execFileSync('mkfifo', [join(directory, '10.1.2.10')]);
    assert.deepEqual(
      (await release(open(), c1)).map((addr) => `${addr}`),
      ['10.1.2.2', '2001:db8:1::2'],
    );
  });

  test('a refused reservation leaves none', async () => {
    plant('10.1.2.2', 'c9\r\neth0');
    await open().exclusive((ledger) => assert.equal(ledger.reserve(Addr.parse('10.1.2.2'), c1), false));
    assert.deepEqual(readdirSync(directory).sort(), ['10.1.2.2', 'lock']);
  });
});

describe('the lock', () => {
  test('is waited for, and an abort ends the wait', async () => {
    plant('lock', '');
    using other = openFile(join(directory, 'lock'), O.RDONLY);
    flock(other, 'exclusive');
    const order: string[] = [];
    const abort = new AbortController();
    const waiting = allocate(open(), { rangeSets: sets, owner: c1 }).then(() => order.push('allocated'));
    const aborted = allocate(open(), { rangeSets: sets, owner: c1, signal: abort.signal });
    abort.abort(new Error('no more time'));
    await assert.rejects(aborted, { message: 'no more time' });
    order.push('unlocked');
    flock(other, 'unlock');
    await waiting;
    assert.deepEqual(order, ['unlocked', 'allocated']);
  });

  test('is given back when the work fails', async () => {
    await assert.rejects(
      open().exclusive(() => {
        throw new Error('broken');
      }),
      { message: 'broken' },
    );
    await add();
  });

  test('that cannot be opened is said', async () => {
    mkdirSync(join(root, 'networks'));
    writeFileSync(directory, 'a file where the directory should be');
    await assert.rejects(add(), { code: 'IPAM_STORE', message: /^open the lock in .*EEXIST/ });
  });
});
