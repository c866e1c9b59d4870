import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNetns } from '@heddle/sys';
import { buildCrash } from '../../../../scripts/build-crash.ts';
import { attachCrash } from './attach.ts';
import { crashAt, holdAt } from './crash-at.ts';
import { pointText } from './tracer.ts';

buildCrash();

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heddle-crash-test-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A shell script that runs in the directory. */
function shell(script: string) {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
  return { program: '/bin/sh', args: ['-c', `cd ${directory}; ${script}`], env };
}

function files(): readonly string[] {
  return readdirSync(directory).sort();
}

/** Waits until a process of somebody else is no more, or waits for who collects its status. */
async function gone(pid: string): Promise<void> {
  const runs = () => {
    try {
      return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };
  while (runs()) await sleep(5);
}

const CHANGES = 'echo a >one; ln -s one two; mkdir three; mv one four; rm two';

test('a program that is left alone is followed into all that it starts, and its calls are told', async () => {
  const end = await crashAt({ ...shell(`cat; (${CHANGES}); echo done; exit 3`), stdin: 'in ', point: 0 });
  assert.equal(end.exitCode, 3);
  assert.equal(end.stdout, 'in done\n');
  assert.equal(end.reached, false);
  assert.deepEqual(
    end.points.map(({ number, process, call, about }) => `${number} ${process} ${call} ${about}`),
    [
      '1 sh openat one',
      `2 sh write ${directory}/one`,
      '3 ln symlinkat two',
      `4 mkdir ${end.points[3]?.call} three`,
      `5 mv ${end.points[4]?.call} four`,
      '6 rm unlinkat two',
    ],
  );
  assert.equal(end.points[2] && pointText(end.points[2]), 'call 3, symlinkat two (ln)');
});

test('a program is killed before any of its calls, or after it', async () => {
  const left: (readonly string[])[] = [];
  for (let point = 1; point <= 6; point++) {
    const end = await crashAt({ ...shell(CHANGES), point });
    assert.equal(end.signal, 'SIGKILL');
    assert.equal(end.reached, true);
    assert.equal(end.points.at(-1)?.number, point);
    left.push(files());
    for (const name of files()) rmSync(join(directory, name), { recursive: true });
  }
  const all = [[], ['one'], ['one'], ['one', 'two'], ['one', 'three', 'two'], ['four', 'three', 'two']];
  assert.deepEqual(left, all);
  await crashAt({ ...shell(CHANGES), point: 3, when: 'after' });
  assert.deepEqual(files(), ['one', 'two']);
});

test('a program that makes fewer calls ends by itself', async () => {
  const end = await crashAt({ ...shell(CHANGES), point: 7 });
  assert.deepEqual([end.exitCode, end.reached, end.points.length], [0, false, 6]);
});

test('all that the program has started dies with it', async () => {
  const script = 'sleep 1000 & echo $! >&2; : >mark';
  const { stderr, reached } = await crashAt({ ...shell(script), point: 1 });
  assert.equal(reached, true);
  await gone(stderr.trim());
});

test('what outlives its program is let go of', async () => {
  const { stderr, exitCode } = await crashAt({
    ...shell('(while ! [ -e go ]; do sleep 0.01; done; : >gone) >/dev/null & echo $! >&2; : >go'),
    point: 99,
  });
  assert.equal(exitCode, 0);
  await gone(stderr.trim());
  assert.deepEqual(files(), ['go', 'gone']);
});

test('requests on netlink sockets count unless they only ask', async () => {
  using netns = createNetns();
  const script = [
    'ip -o address',
    'ip route add blackhole 192.0.2.0/24',
    'ip address add 192.0.2.1/32 dev lo',
    'ip route',
    'ip rule del pref 32767',
  ].join(';');
  const { points } = await crashAt({ ...shell(script), netns, point: 0 });
  assert.deepEqual(
    points.map(({ about }) => about),
    ['newroute', 'newaddr', 'delrule'],
  );
});

test('parameters of the kernel count, outputs and nameless files do not', async () => {
  using netns = createNetns();
  const script =
    'echo 1 >/proc/sys/net/ipv4/ip_forward; echo out; echo error >&2; echo nothing >/dev/null; cat <<EOF\nhere\nEOF\n';
  const { points, stdout } = await crashAt({ ...shell(script), netns, point: 0 });
  assert.deepEqual(
    points.map(({ call, about }) => `${call} ${about}`),
    ['write /proc/sys/net/ipv4/ip_forward'],
  );
  assert.equal(stdout, 'out\nhere\n');
});

test('a program is held in the middle, and goes on', async () => {
  await using held = await holdAt({ ...shell(`${CHANGES}; echo done`), point: 4 });
  assert.equal(held.report.reached, true);
  assert.deepEqual(files(), ['one', 'two']);
  const end = await held.resume();
  assert.deepEqual([end.exitCode, end.stdout], [0, 'done\n']);
  assert.deepEqual(files(), ['four', 'three']);
});

test('a program that is held dies with whoever has stopped it', async () => {
  {
    await using held = await holdAt({ ...shell(CHANGES), point: 4, when: 'after' });
    assert.equal(held.report.points.length, 4);
  }
  assert.deepEqual(files(), ['one', 'three', 'two']);
});

/** A daemon that makes a file for each line that it is told. */
function startDaemon(): ChildProcess {
  const script = 'while read name; do : >"$name"; echo "$name"; done';
  return spawn('/bin/sh', ['-c', script], { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] });
}

test('a process that runs already is killed when it does something for others', async () => {
  const daemon = startDaemon();
  const ended = once(daemon, 'exit');
  daemon.stdin?.write('before\n');
  await once(daemon.stdout as NodeJS.EventEmitter, 'data');
  await using tracer = await attachCrash({ pid: daemon.pid ?? 0, point: 2 });
  daemon.stdin?.write('first\nsecond\nthird\n');
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  const { points, reached } = await tracer.release();
  assert.equal(reached, true);
  assert.deepEqual(
    points.map(({ about }) => about),
    ['first', 'second'],
  );
  assert.deepEqual(files(), ['before', 'first']);
});

test('a process that is let go of works on', async () => {
  const daemon = startDaemon();
  const ended = once(daemon, 'exit');
  const tracer = await attachCrash({ pid: daemon.pid ?? 0, point: 0 });
  daemon.stdin?.write('one\n');
  await once(daemon.stdout as NodeJS.EventEmitter, 'data');
  assert.equal((await tracer.release()).points.length, 1);
  daemon.stdin?.end('two\n');
  assert.deepEqual(await ended, [0, null]);
  assert.deepEqual(files(), ['one', 'two']);
});

test('each thread of a process is followed', async () => {
  const script = `
    const { Worker } = require('node:worker_threads');
    const code = "const { parentPort } = require('node:worker_threads'); const { mkdirSync } = require('node:fs');" +
      "parentPort.on('message', (name) => { mkdirSync(name); parentPort.postMessage(name); });";
    const workers = ['a', 'b', 'c'].map(() => new Worker(code, { eval: true }));
    process.stdin.on('data', () => workers.forEach((each, i) => each.postMessage('abc'[i])));
    let done = 0;
    for (const each of workers) each.on('message', () => { if (++done === 3) process.exit(); });
    const ready = workers.map((each) => new Promise((resolve) => each.once('online', resolve)));
    Promise.all(ready).then(() => console.log('ready'));`;
  const child = spawn(process.execPath, ['-e', script], {
    cwd: directory,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout as NodeJS.EventEmitter, 'data');
  await using tracer = await attachCrash({ pid: child.pid ?? 0, point: 0 });
  const ended = once(child, 'exit');
  child.stdin?.write('go');
  assert.deepEqual(await ended, [0, null]);
  const { points } = await tracer.release();
  assert.deepEqual(
    points
      .filter(({ call }) => call.startsWith('mkdir'))
      .map(({ about }) => about)
      .sort(),
    ['a', 'b', 'c'],
  );
  assert.deepEqual([...new Set(points.map(({ pid }) => pid))], [child.pid]);
});

test('a process that is not there cannot be followed', async () => {
  await assert.rejects(attachCrash({ pid: 2 ** 22 - 1, point: 1 }), {
    code: 'CONFORMANCE_IMPOSSIBLE',
    message: /cannot be followed: .*No such/s,
  });
});

test('a program that is not there is an ordinary end', async () => {
  const { exitCode, stderr } = await crashAt({ program: '/nonexistent', env: {}, point: 1 });
  assert.equal(exitCode, 127);
  assert.match(stderr, /\/nonexistent: No such file/);
});
