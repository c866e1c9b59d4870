import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootClock } from '@heddle/dhcp';
import { CliLab } from '../testing/cli-lab.ts';

const lease = {
  prefix: '192.0.2.5/24',
  server: '192.0.2.1',
  ...{ renewAt: null, rebindAt: null, expiresAt: null },
  ...{ routers: [], nameServers: [], search: [], staticRoutes: [] },
};

test('the daemon runs until it is told to end, and answers meanwhile', async () => {
  using lab = new CliLab();
  const socket = join(lab.root, 'dhcp.sock');
  const state = join(lab.root, 'leases');
  const daemon = lab.run(['dhcp', 'daemon', '-socketpath', socket, '-statedir', state, '-timeout=2s']);
  for (;;) {
    const { exitCode, stdout, stderr } = await lab.run(['dhcp', 'leases', '--socket', socket]);
    if (exitCode === 0) {
      assert.deepEqual({ stdout, stderr }, { stdout: 'no leases\n', stderr: '' });
      break;
    }
    await sleep(5);
  }
  lab.signals.send('SIGTERM');
  assert.deepEqual(await daemon, { exitCode: 0, stdout: '', stderr: '' });
});

test('its flags are written as Go programs have them', async () => {
  using lab = new CliLab();
  const help = await lab.run(['dhcp', 'daemon', '-help']);
  assert.equal(help.exitCode, 0);
  assert.match(help.stderr, /^Usage of daemon:\n {2}-pidfile string\n/);
  const wrong = await lab.run(['dhcp', 'daemon', '-nope']);
  assert.equal(wrong.exitCode, 2);
  assert.match(wrong.stderr, /^flag provided but not defined: -nope\n/);
});

test('leases are listed', async () => {
  using lab = new CliLab();
  const socket = join(lab.root, 'dhcp.sock');
  const owner = { network: 'net1', containerID: 'c1', ifName: 'eth0' };
  const answer = [
    { owner, state: 'bound', lease: { ...lease, expiresAt: bootClock.now() + 90_400 } },
    { owner: { ...owner, ifName: 'eth1' }, state: 'expired', lease },
  ];
  const server = createServer((peer) => peer.once('data', () => peer.end(`${JSON.stringify({ answer })}\n`)));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  try {
    const text = await lab.run(['dhcp', 'leases', '--socket', socket]);
    assert.equal(
      text.stdout,
      [
        'NETWORK   CONTAINER   INTERFACE   ADDRESS        SERVER      STATE     EXPIRES IN',
        'net1      c1          eth0        192.0.2.5/24   192.0.2.1   bound            90s',
        'net1      c1          eth1        192.0.2.5/24   192.0.2.1   expired        never',
        '',
      ].join('\n'),
    );
    const json = await lab.run(['dhcp', 'leases', '--socket', socket, '-o', 'json']);
    assert.deepEqual(JSON.parse(json.stdout).leases[0], {
      ...owner,
      ...{ state: 'bound', address: '192.0.2.5/24', server: '192.0.2.1', expiresIn: 90 },
    });
  } finally {
    server.close();
  }
});

test('without a daemon it says how to start one; without a word what there is', async () => {
  using lab = new CliLab();
  const socket = join(lab.root, 'none.sock');
  const { exitCode, stderr } = await lab.run(['dhcp', 'leases', '--socket', socket]);
  assert.equal(exitCode, 1);
  assert.match(
    stderr,
    /^heddle: dial unix .*: no such file or directory\n {2}hint: start it with `heddle dhcp daemon`/,
  );
  for (const args of [['dhcp'], ['dhcp', 'servers']]) assert.equal((await lab.run(args)).exitCode, 2);
});
