/** The lab itself: what it makes can be used, and nothing of it stays. Pods are wired by hand. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isComplete, type LabSpec, RunningLab, specOf } from '@heddle/lab';
import { until } from '../support/until.ts';
import { assertParted, heddleProgram, startLab, untilComplete } from './cluster-lab.ts';

const byHand = { wiring: 'by-hand' } as const;

for (const families of ['ipv4', 'ipv6', 'dual'] as const) {
  test(`pods of two segments reach each other over the router, ${families}`, async () => {
    const spec = specOf({ nodes: 3, topology: 'two-segments', families, pods: 2, network: byHand });
    await using lab = await startLab(spec);
    const { reaches, from, to } = await untilComplete(lab, { nodes: true });
    assert.deepEqual([from.length, to.length], [9, 9]);
    assert.equal(reaches.length, 9 * 8 * (families === 'dual' ? 2 : 1));
  });
}

for (const mtu of [1400, 1500, 9000]) {
  test(`packets of ${mtu} bytes pass whole, one byte more is refused, and streams pass`, async () => {
    await using lab = await startLab(specOf({ nodes: 2, topology: 'segment-each', mtu, network: byHand }));
    for (const family of [4, 6] as const) {
      const way = { from: 'pod1-1', to: 'pod2-1', family, fragments: false };
      assert.equal((await lab.ask('ping', { ...way, size: mtu, timeout: 20_000 })).answered, true);
      assert.deepEqual(await lab.ask('ping', { ...way, size: mtu + 1 }), {
        answered: false,
        error: 'EMSGSIZE',
      });
      const sent = await lab.ask('transfer', { from: 'pod1-1', to: 'pod2-1', family, bytes: 8_000_000 });
      assert.equal(sent.complete, true, JSON.stringify(sent));
    }
  });
}

test('a node that is cut off reaches its own pods only, until it is healed', async () => {
  await using lab = await startLab(specOf({ nodes: 2, network: byHand }));
  await untilComplete(lab);
  await lab.ask('cut', { node: 'node2' });
  await assertParted(lab, [['node1'], ['node2']]);
  assert.equal((await lab.ask('status', {})).nodes[1]?.cut, true);
  await lab.ask('heal', { node: 'node2' });
  await untilComplete(lab);
});

test('a pod comes and goes, and names that are not there are told with those that are', async () => {
  await using lab = await startLab(specOf({ nodes: 1, network: byHand }));
  const { addresses } = await lab.ask('addPod', { node: 'node1', pod: 'web' });
  assert.equal(addresses.length, 2);
  assert.equal(isComplete(await lab.ask('matrix', { from: ['web'], to: ['pod1-1'], timeout: 20_000 })), true);
  await assert.rejects(lab.ask('addPod', { node: 'node1', pod: 'web' }), /there is web already/);
  await lab.ask('removePod', { pod: 'web' });
  await assert.rejects(lab.ask('ping', { from: 'pod1-1', to: 'web' }), (error: Error & { hint?: string }) => {
    assert.match(error.message, /there is no web in this lab/);
    assert.match(error.hint ?? '', /node1, pod1-1, router/);
    return true;
  });
  const { stdout } = await lab.ask('run', { on: 'node1', command: ['ls', '/run/netns'] });
  assert.equal(stdout.trim(), 'pod1-1');
});

test('a machine writes files for itself, and sees the processes of the lab only', async () => {
  await using lab = await startLab(specOf({ nodes: 2, pods: 0, network: byHand }));
  const run = (on: string, ...command: string[]) => lab.ask('run', { on, command });
  await run('node1', 'sh', '-c', 'echo mine > /etc/heddle-lab-note');
  assert.equal((await run('node1', 'cat', '/etc/heddle-lab-note')).stdout, 'mine\n');
  assert.notEqual((await run('node2', 'cat', '/etc/heddle-lab-note')).status, 0);
  assert.ok(!existsSync('/etc/heddle-lab-note'));
  const { stdout } = await run('node2', 'cat', '/proc/1/cmdline');
  assert.match(stdout, /lab\0keep/);
  assert.equal((await run('node1', 'sh', '-c', 'kill -9 $$')).status, 137);
});

test('a program that is started from outside is on the machine', async () => {
  await using lab = await startLab(specOf({ nodes: 1, network: byHand }));
  const child = await lab.spawn('pod1-1', ['sh', '-c', 'ls /sys/class/net /run/netns; cat /proc/self/comm'], {
    ...{ env: process.env, stdio: 'pipe' },
  });
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.match(said, /pod1-1/);
  assert.match(said, /cat/);
});

test('a lab that cannot be made says why, and leaves nothing', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-lab-'));
  const spec: LabSpec = {
    ...specOf({ nodes: 1, families: 'ipv6', podFamilies: 'ipv4', network: byHand }),
  };
  await assert.rejects(
    RunningLab.start(spec, { directory, program: heddleProgram(), owned: true }),
    /node node1: pods of IPv4 cannot be routed by hand over a network without IPv4/,
  );
  assert.ok(!existsSync(directory));
});

test('a lab goes with its keeper, however that ends, and another one takes its place', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-lab-'));
  const start = () =>
    RunningLab.start(specOf({ nodes: 2, network: byHand }), {
      directory,
      program: heddleProgram(),
      owned: true,
    });
  const first = await start();
  const keeper = readFileSync(join(directory, 'default', 'keeper.pid'), 'utf8').trim();
  const inside = await first.spawn('node2', ['sleep', '1000'], { env: process.env, stdio: 'pipe' });
  const netns = readlinkSync(`/proc/${inside.pid}/ns/net`);
  await assert.rejects(start(), /lab default is running/);
  const ended = once(inside, 'exit');
  process.kill(Number(keeper), 'SIGKILL');
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  await until('its network to be gone', () => (hasNetns(netns) ? undefined : true));
  assert.deepEqual(RunningLab.list(directory), []);
  {
    await using second = await start();
    await untilComplete(second);
  }
  rmSync(directory, { recursive: true, force: true });
});

test('a lab goes with the process that owns it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-lab-'));
  const script = `
    import { RunningLab, specOf } from '@heddle/lab';
    const spec = specOf({ nodes: 1, network: { wiring: 'by-hand' } });
    await RunningLab.start(spec, { directory: '${directory}', program: ${JSON.stringify(heddleProgram())}, owned: true });
    console.log('up');
    setInterval(() => {}, 1000);
  `;
  const owner = spawn(process.execPath, ['--conditions=source', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(owner.stdout, 'data');
  assert.deepEqual(RunningLab.list(directory), ['default']);
  owner.kill('SIGKILL');
  await until('the lab to be gone', () => (RunningLab.list(directory).length === 0 ? true : undefined));
  await until('its files to be gone', () => (existsSync(join(directory, 'default')) ? undefined : true));
  rmSync(directory, { recursive: true, force: true });
});

test('a lab that nobody waits for any more is not finished', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-lab-'));
  const script = `
    import { RunningLab, specOf } from '@heddle/lab';
    const spec = specOf({ nodes: 20, network: { wiring: 'by-hand' } });
    const tell = (what) => console.log(what);
    await RunningLab.start(spec, { directory, program: ${JSON.stringify(heddleProgram())}, tell });
  `.replace('directory,', `directory: '${directory}',`);
  const starter = spawn(process.execPath, ['--conditions=source', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(starter.stdout, 'data');
  starter.kill('SIGINT');
  await until('its files to be gone', () => (existsSync(join(directory, 'default')) ? undefined : true), 60);
  rmSync(directory, { recursive: true, force: true });
});

test('a lab that is let go of stays until it is taken down', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-lab-'));
  const options = { directory, program: heddleProgram() };
  const lab = await RunningLab.start(specOf({ nodes: 1, network: byHand }), options);
  assert.equal((await RunningLab.open({ directory }).ask('status', {})).nodes.length, 1);
  await lab.down();
  assert.ok(!existsSync(directory));
  assert.throws(() => RunningLab.open({ directory }), /no lab default is running/);
});

/** Whether a process of this machine is in a network namespace. */
function hasNetns(name: string): boolean {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .some((entry) => {
      try {
        return readlinkSync(`/proc/${entry}/ns/net`) === name;
      } catch {
        // It has ended meanwhile.
        return false;
      }
    });
}
