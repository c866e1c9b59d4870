import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { InflightMarks } from './inflight.ts';
import { FileLocks } from './locks.ts';
import { network, POD } from './testing/networks.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

const root = mkdtempSync(join(tmpdir(), 'heddle-locks-'));
after(() => rmSync(root, { recursive: true }));

let count = 0;
const freshDir = (): string => join(root, `locks-${++count}`);

/** Another process that holds a lock. */
async function otherProcess(...args: readonly string[]): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./testing/locker.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=source', script, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

/** Asserts that a lock is not to be had. */
async function assertHeld(take: (signal: AbortSignal) => Promise<Disposable>): Promise<void> {
  await assert.rejects(take(AbortSignal.timeout(50)), { name: 'TimeoutError' });
}

test('ADDs share a network; GC has it alone', async () => {
  const locks = new FileLocks(freshDir());
  {
    using _one = await locks.network('n', 'shared');
    using _two = await locks.network('n', 'shared');
    await assertHeld((signal) => locks.network('n', 'exclusive', signal));
    using _other = await locks.network('m', 'exclusive');
  }
  using _gc = await locks.network('n', 'exclusive');
  await assertHeld((signal) => locks.network('n', 'shared', signal));
});

test('a GC that waits goes before the ADDs that come later', async () => {
  const locks = new FileLocks(freshDir());
  const order: string[] = [];
  const first = await locks.network('n', 'shared');
  const take = async (name: string, mode: 'shared' | 'exclusive') => {
    using _lock = await locks.network('n', mode);
    order.push(name);
  };
  const gc = take('gc', 'exclusive');
  const add = take('add', 'shared');
  await sleep(20);
  assert.deepEqual(order, []);
  first[Symbol.dispose]();
  await Promise.all([gc, add]);
  assert.deepEqual(order, ['gc', 'add']);
});

test('a container is locked against everybody else, and its file does not stay', async () => {
  const dir = freshDir();
  const locks = new FileLocks(dir);
  let inside = 0;
  let most = 0;
  const work = async () => {
    using _lock = await locks.container('c1');
    most = Math.max(most, ++inside);
    await sleep(1);
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 20 }, work));
  assert.equal(most, 1);
  assert.deepEqual(readdirSync(join(dir, 'containers')), []);
});

test('locks hold between processes, and end with their process', async () => {
  const dir = freshDir();
  const locks = new FileLocks(dir);
  const container = await otherProcess('container', dir, 'c1');
  await assertHeld((signal) => locks.container('c1', signal));
  using _other = await locks.container('c2');
  container.kill('SIGKILL');
  using _lock = await locks.container('c1');
  const gc = await otherProcess('network', dir, 'n', 'exclusive');
  await assertHeld((signal) => locks.network('n', 'shared', signal));
  gc.stdin?.end();
  using _network = await locks.network('n', 'shared');
});

test("a wait ends with the signal's reason", async () => {
  const locks = new FileLocks(freshDir());
  using _held = await locks.container('c1');
  const controller = new AbortController();
  const waiting = locks.container('c1', controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, /^Error: enough$/);
});

test('a directory that cannot be made is named', async () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  await assert.rejects(
    new FileLocks(file).container('c1'),
    /^CniError: prepare a lock: mkdir .*: not a directory$/,
  );
});

test('marks: a key is in flight while anybody holds it', () => {
  const dir = freshDir();
  const marks = new InflightMarks(dir);
  assert.deepEqual(marks.list(), new Set());
  const one = marks.begin('a');
  const two = marks.begin('a');
  const other = marks.begin('b/c');
  assert.deepEqual(marks.list(), new Set(['a', 'b/c']));
  one[Symbol.dispose]();
  assert.deepEqual(marks.list(), new Set(['a', 'b/c']));
  two[Symbol.dispose]();
  other[Symbol.dispose]();
  assert.deepEqual(marks.list(), new Set());
  assert.deepEqual(readdirSync(dir), []);
});

test('marks: that of another process counts until it is killed, and is then cleaned away', async () => {
  const dir = freshDir();
  const marks = new InflightMarks(dir);
  const adding = await otherProcess('mark', dir, 'a');
  assert.deepEqual(marks.list(), new Set(['a']));
  adding.kill('SIGKILL');
  await once(adding, 'exit');
  assert.deepEqual(readdirSync(dir), ['a']);
  assert.deepEqual(marks.list(), new Set());
  assert.deepEqual(readdirSync(dir), []);
});

test('marks: of a process that was killed DEL takes away its own, and never one that is set', async () => {
  const dir = freshDir();
  const marks = new InflightMarks(dir);
  for (const key of ['a', 'b/c']) {
    const adding = await otherProcess('mark', dir, key);
    marks.forget(key);
    assert.deepEqual(marks.list(), new Set([key]));
    adding.kill('SIGKILL');
    await once(adding, 'exit');
    marks.forget('of nobody');
    assert.equal(readdirSync(dir).length, 1);
    marks.forget(key);
    assert.deepEqual(readdirSync(dir), []);
  }
});

test('operations on one container go one after the other, GC waits for all of its network', async () => {
  using stubs = new StubPlugins();
  stubs.install('slow', {
    ADD: { stdout: '{}', script: `while [ ! -e ${stubs.root}/go ]; do sleep 0.02; done` },
  });
  const runtime = stubs.runtime();
  const list = network(['slow']);
  const adds = ['c1', 'c1', 'c2'].map((containerID, index) =>
    runtime.add(list, { ...POD, containerID, ifName: `eth${index}` }),
  );
  const gc = runtime.gc(list, [
    { containerID: 'c1', ifname: 'eth0' },
    { containerID: 'c1', ifname: 'eth1' },
    { containerID: 'c2', ifname: 'eth2' },
  ]);
  while (stubs.commands().length < 2) await sleep(5);
  await sleep(50);
  assert.deepEqual(stubs.commands(), ['ADD slow', 'ADD slow']);
  writeFileSync(join(stubs.root, 'go'), '');
  await Promise.all([...adds, gc]);
  assert.deepEqual(stubs.commands().toSorted(), ['ADD slow', 'ADD slow', 'ADD slow', 'GC slow']);
});

test('a runtime inside a plugin does not wait for the operation that it is part of', async () => {
  using stubs = new StubPlugins('one');
  const outer = { HEDDLE_LOCKS: 'network/net,container/c1' };
  const runtime = stubs.runtime({ env: { ...outer } });
  const locks = new FileLocks(join(stubs.root, 'locks'));
  using _network = await locks.network('net', 'shared');
  using _container = await locks.container('c1');
  await runtime.add(network(['one']), POD);
  await runtime.add(network(['one'], { name: 'second' }), { ...POD, ifName: 'net1' });
  assert.deepEqual(
    stubs.calls().map(({ env }) => env['HEDDLE_LOCKS']),
    ['network/net,container/c1', 'network/net,container/c1,network/second'],
  );
  await assert.rejects(runtime.gc(network(['one']), []), { cniCode: 11 });
});
