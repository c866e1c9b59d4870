import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_CONFIG, startWatchdog } from '@heddle/agent';
import { AF, bind, MSG, recv, SOCK, socket } from '@heddle/sys';
import { unixAddress } from '../../packages/agent/src/unix-address.ts';
import { buildCommand } from '../../scripts/build-command.ts';
import { ShimLab } from './shim-lab.ts';

/** systemd's side of sd_notify(3). */
class Manager implements Disposable {
  readonly #socket = socket({ family: AF.UNIX, type: SOCK.DGRAM });
  /** What it was told, a datagram each. */
  readonly told: string[] = [];

  constructor(path: string) {
    bind(this.#socket, unixAddress(path));
  }

  /** Takes what has come. */
  take(): readonly string[] {
    for (;;) {
      const datagram = recv(this.#socket, undefined, MSG.DONTWAIT);
      if (datagram === undefined) return this.told;
      this.told.push(Buffer.from(datagram).toString());
    }
  }

  /** Waits until something was told. */
  async hears(pattern: RegExp, times = 1): Promise<void> {
    while (this.take().filter((text) => pattern.test(text)).length < times) await sleep(10);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

for (const kind of ['path', 'abstract name'] as const) {
  test(`it tells systemd, at a socket with a ${kind}, that it is ready, alive, and stopping`, async () => {
    buildCommand();
    await using lab = new ShimLab({ withStandalone: false });
    const path = kind === 'path' ? join(lab.directory, 'notify') : `@heddle-notify-${process.pid}`;
    using manager = new Manager(path);
    const child = spawn(resolve('bin/heddle'), ['agent'], {
      env: {
        ...process.env,
        ...{ HEDDLE_AGENT_SOCKET: lab.socket, HEDDLE_AGENT_QUEUE: lab.queue.directory },
        ...{ NOTIFY_SOCKET: path, WATCHDOG_USEC: '300000' },
      },
      stdio: 'ignore',
    });
    lab.after(() => void child.kill('SIGKILL'));
    const ended = new Promise<number | null>((done) => child.on('exit', done));
    await manager.hears(/^READY=1/);
    // It serves by then.
    assert.ok(existsSync(lab.socket));
    await manager.hears(/^WATCHDOG=1/, 3);
    // A process whose event loop stands still says nothing.
    child.kill('SIGSTOP');
    await sleep(50);
    const { length } = manager.take();
    await sleep(500);
    assert.equal(manager.take().length, length);
    child.kill('SIGCONT');
    await manager.hears(/^WATCHDOG=1/, 4);
    child.kill('SIGTERM');
    await manager.hears(/^STOPPING=1/);
    assert.equal(await ended, 0);
    assert.match(manager.told[0] ?? '', /^READY=1\nSTATUS=serves \d+ plugins$/);
  });
}

test('without a watchdog no timer runs', async () => {
  buildCommand();
  await using lab = new ShimLab({ withStandalone: false });
  using manager = new Manager(join(lab.directory, 'notify'));
  const child = spawn(resolve('bin/heddle'), ['agent'], {
    env: {
      ...process.env,
      ...{ HEDDLE_AGENT_SOCKET: lab.socket, HEDDLE_AGENT_QUEUE: lab.queue.directory },
      ...{ NOTIFY_SOCKET: join(lab.directory, 'notify'), WATCHDOG_USEC: '300000', WATCHDOG_PID: '1' },
    },
    stdio: 'ignore',
  });
  lab.after(() => void child.kill('SIGKILL'));
  await manager.hears(/^READY=1/);
  await sleep(400);
  assert.equal(manager.take().length, 1);
});

test('a probe that the kernel does not answer, or that fails, is no keep-alive', async () => {
  let alive = 0;
  let probes = 0;
  const failures: unknown[] = [];
  const ways = [
    async () => {},
    () => Promise.reject(new Error('refused')),
    () => new Promise<void>(() => {}),
  ];
  const watchdog = startWatchdog({
    interval: 15,
    probe: () => (ways[probes++] ?? assert.fail)(),
    keepAlive: () => void alive++,
    onFailure: (error) => failures.push(error),
  });
  while (probes < ways.length) await sleep(10);
  await sleep(300);
  watchdog[Symbol.dispose]();
  assert.deepEqual(
    { alive, probes, failures: failures.map(String) },
    {
      ...{ alive: 1, probes: 3, failures: ['Error: refused'] },
    },
  );
});

const analyze = spawnSync('systemd-analyze', ['--version']);
test('systemd finds nothing wrong with the units', {
  skip: analyze.status === 0 ? false : 'not installed: systemd-analyze',
}, async () => {
  await using lab = new ShimLab();
  const copy = (name: string) => {
    const unit = readFileSync(join('deploy/systemd', name), 'utf8');
    const path = join(lab.directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, unit.replace(/^ExecStart=\/\S+/m, 'ExecStart=/bin/true'));
    return path;
  };
  const service = copy('heddle-agent.service');
  copy('heddle-agent.socket');
  const verify = () => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', service], {
      encoding: 'utf8',
    });
    return { status, said: stdout + stderr };
  };
  assert.deepEqual(verify(), { status: 0, said: '' });
  // What makes the agent a node is read along with the service, and replaces its command.
  const dropIn = copy('heddle-agent.service.d/node.conf');
  assert.deepEqual(verify(), { status: 0, said: '' });
  writeFileSync(dropIn, readFileSync(dropIn, 'utf8').replace('/bin/true', '/bin/missing'));
  assert.match(verify().said, /\/bin\/missing is not executable/);
});

test('the drop-in for nodes starts the agent as the service does, with the configuration that heddle up writes', () => {
  const commandsIn = (name: string) =>
    [...readFileSync(join('deploy/systemd', name), 'utf8').matchAll(/^ExecStart=(.*)$/gm)].map(
      ([, text]) => text,
    );
  const [command = ''] = commandsIn('heddle-agent.service');
  assert.deepEqual(commandsIn('heddle-agent.service.d/node.conf'), [
    '',
    command.replace(' agent ', ` agent --node ${NODE_CONFIG} `),
  ]);
});
