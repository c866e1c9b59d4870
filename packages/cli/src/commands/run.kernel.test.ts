/** Commands in namespaces of their own, on a real kernel. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CliLab, Outcome } from '../testing/cli-lab.ts';
import { KernelLab } from '../testing/kernel-lab.ts';

async function appears(path: string): Promise<void> {
  while (!existsSync(path)) await sleep(10);
}

describe('heddle run', () => {
  test('gives a command its own network, and takes it away again', async () => {
    using lab = new KernelLab();
    const out = join(lab.root, 'out');
    const script = `{ ip -j address; ip -j route; ip -j -6 route; } > ${out}; exit 7`;
    const ended = await lab.inProcess(['run', 'podnet', '--', 'sh', '-c', script]);
    assert.deepEqual(ended, { exitCode: 7, stdout: '', stderr: '' });
    const [addresses, routes, routes6] = lab
      .read('out')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const names = addresses.map(({ ifname, operstate }: Record<string, string>) => `${ifname} ${operstate}`);
    assert.deepEqual(names, ['lo UNKNOWN', 'eth0 UP']);
    assert.equal(routes.find(({ dst }: { dst: string }) => dst === 'default').gateway, '10.45.0.1');
    assert.equal(routes6.find(({ dst }: { dst: string }) => dst === 'default').gateway, 'fd45::1');
    assert.deepEqual(lab.leftovers(), []);
  });

  test('tells programs what it did, beside the command’s own output', async () => {
    using lab = new KernelLab();
    const { exitCode, stdout, stderr } = await lab.inProcess([
      'run',
      '--name',
      'hdrun',
      '-o',
      'json',
      'podnet',
      '--',
      'true',
    ]);
    const events = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual({ exitCode, stdout }, { exitCode: 0, stdout: '' });
    const netns = join(lab.places.netnsDir, 'hdrun');
    const { containerID, ...attached } = events[0];
    assert.match(containerID, /^cnitool-/);
    const ips = ['10.45.0.2/24', 'fd45::2/64'];
    assert.deepEqual(attached, { event: 'attached', network: 'podnet', ifName: 'eth0', netns, ips });
    assert.deepEqual(events[1], { event: 'detached', exitCode: 0 });
  });

  test('can be looked at from outside while it runs', async () => {
    using lab = new KernelLab();
    const [ready, done] = [join(lab.root, 'ready'), join(lab.root, 'done')];
    const script = `touch ${ready}; while [ ! -e ${done} ]; do sleep 0.05; done`;
    const running = lab.inProcess(['run', '--name', 'hdrun', 'podnet', '--', 'sh', '-c', script]);
    await appears(ready);
    const { exitCode } = await lab.inProcess(['check', 'podnet', 'hdrun']);
    const { stdout } = await lab.run(['ls']);
    lab.write('done', '');
    assert.equal((await running).exitCode, 0);
    assert.equal(exitCode, 0);
    assert.match(stdout, /^podnet +cnitool-\S+ +eth0 +10\.45\.0\.2\/24 fd45::2\/64 +\S+ +attached$/m);
  });

  const failures: readonly (readonly [
    what: string,
    command: readonly string[],
    exitCode: number,
    stderr: RegExp,
  ])[] = [
    [
      'there is no such command',
      ['hd-no-such-command'],
      127,
      /^heddle: run hd-no-such-command: there is no such command\n$/,
    ],
    [
      'it cannot be executed',
      ['/etc/passwd'],
      126,
      /^heddle: run \/etc\/passwd: it cannot be executed \(EACCES\)\n$/,
    ],
    ['a signal ends it', ['sh', '-c', 'kill -KILL $$'], 137, /^$/],
  ];
  for (const [what, command, exitCode, stderr] of failures) {
    test(`ends with ${exitCode} when ${what}, and leaves nothing`, async () => {
      using lab = new KernelLab();
      const ended = await lab.inProcess(['run', 'podnet', '--', ...command]);
      assert.equal(ended.exitCode, exitCode);
      assert.match(ended.stderr, stderr);
      assert.deepEqual(lab.leftovers(), []);
    });
  }

  /** Starts a command that writes down the signals that it gets, sends one, and lets it end. */
  async function signalled(lab: KernelLab, signal: NodeJS.Signals): Promise<Outcome> {
    const [ready, done] = [join(lab.root, 'ready'), join(lab.root, 'done')];
    const traps = 'trap "echo INT >> got" INT; trap "echo TERM >> got" TERM; trap "echo HUP >> got" HUP; ';
    const wait = `touch ${ready}; while [ ! -e ${done} ]; do sleep 0.05; done; exit 5`;
    const running = lab.inProcess([
      'run',
      'podnet',
      '--',
      'sh',
      '-c',
      `cd ${lab.root}; touch got; ${traps}${wait}`,
    ]);
    await appears(ready);
    lab.signals.send(signal);
    await sleep(100);
    lab.write('done', '');
    return await running;
  }

  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
    test(`passes ${signal} on, and waits for what the command makes of it`, async () => {
      using lab = new KernelLab();
      assert.equal((await signalled(lab, signal)).exitCode, 5);
      assert.equal(lab.read('got'), `${signal.slice(3)}\n`);
      assert.deepEqual(lab.leftovers(), []);
      assert.equal(lab.signals.listeners, 0);
    });
  }

  test('leaves to the terminal what the terminal sends to both', async () => {
    using lab = new KernelLab();
    lab.isInteractive = true;
    assert.equal((await signalled(lab, 'SIGINT')).exitCode, 5);
    assert.equal(lab.read('got'), '');
  });

  test('ends with 125 when the network cannot be attached, and leaves nothing', async () => {
    using lab = new KernelLab();
    const ended = await lab.run(['run', 'podnet', '--', 'true']);
    assert.equal(ended.exitCode, 125);
    assert.match(ended.stderr, /^heddle: .*failed to find plugin "bridge"/);
    assert.deepEqual(lab.leftovers(), []);
    const unknown = await lab.inProcess(['run', 'nonet', '--', 'true']);
    assert.equal(unknown.exitCode, 125);
  });

  test('does not take a namespace that exists', async () => {
    using lab = new KernelLab();
    lab.write('netns/hdtaken', '');
    const { exitCode, stderr } = await lab.inProcess(['run', '--name', 'hdtaken', 'podnet', '--', 'true']);
    assert.equal(exitCode, 125);
    assert.equal(stderr, 'heddle: namespace hdtaken exists; choose another --name\n');
    assert.ok(existsSync(join(lab.places.netnsDir, 'hdtaken')));
  });
});

describe('heddle run, with a plugin that is slow', () => {
  test('stops attaching when a signal arrives, cleans up, and says which signal it was', async () => {
    using lab = new KernelLab();
    lab.write('net.d/20-slow.conf', { cniVersion: '1.0.0', name: 'slow', type: 'slow' });
    lab.stub('slow', '[ $CNI_COMMAND = ADD ] && sleep 60\nexit 0');
    const running = lab.run(['run', 'slow', '--', 'touch', join(lab.root, 'started')]);
    await appears(join(lab.root, 'calls'));
    lab.signals.send('SIGTERM');
    assert.equal((await running).exitCode, 143);
    assert.deepEqual(commandsOf(lab), ['ADD', 'DEL']);
    assert.ok(!existsSync(join(lab.root, 'started')));
    assert.deepEqual(lab.leftovers(), []);
  });

  test('ends with 125 when detaching fails, and keeps the attachment for another try', async () => {
    using lab = new KernelLab();
    lab.write('net.d/20-sticky.conf', { cniVersion: '1.0.0', name: 'sticky', type: 'sticky' });
    lab.stub(
      'sticky',
      `[ $CNI_COMMAND = DEL ] || { echo '{"cniVersion":"1.0.0"}'; exit 0; }\necho '{"code":5,"msg":"stuck"}'; exit 1`,
    );
    const { exitCode, stderr } = await lab.run(['run', '--name', 'hdrun', 'sticky', '--', 'true']);
    assert.equal(exitCode, 125);
    assert.match(stderr, /^heddle: .*stuck/m);
    lab.stub('sticky', 'exit 0');
    assert.match((await lab.run(['ls'])).stdout, /stale/);
    assert.equal((await lab.run(['del', 'sticky', 'hdrun'])).exitCode, 0);
    assert.deepEqual(lab.leftovers(), []);
  });
});

function commandsOf(lab: CliLab): readonly (string | undefined)[] {
  return lab.calls().map((call) => call.split(' ')[1]);
}
