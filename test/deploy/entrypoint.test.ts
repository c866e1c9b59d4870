/**
 * The entry point of the image, as the DaemonSet runs it: process 1 stands for that of the node, the sandbox's files, bound to
 * another place, for the node's.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import { test } from 'node:test';
import { buildCommand } from '../../scripts/build-command.ts';
import { buildShim } from '../../scripts/build-shim.ts';
import { buildStandalone } from '../../scripts/build-standalone.ts';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';

function sh(script: string): void {
  const { status, stderr } = spawnSync('sh', ['-ec', script], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

test('it makes a node of the machine and runs its agent there', {
  skip: missing('nsenter', 'unshare'),
}, async () => {
  buildStandalone();
  buildShim();
  const command = buildCommand();
  mkdirSync('/opt/heddle/build/plugins', { recursive: true });
  cpSync('build/heddle', '/opt/heddle/build/heddle', { recursive: true });
  for (const name of ['heddle-cni', 'heddle-shim']) {
    copyFileSync(`build/plugins/${name}`, `/opt/heddle/build/plugins/${name}`);
  }
  sh('mkdir /run/host; mount --rbind / /run/host; ip link add up0 type veth peer name up1');
  sh('ip address add 192.0.2.7/24 dev up0; ip link set up0 up; ip link set up1 up');
  const container = spawn(
    'unshare',
    ['--pid', '--fork', '--kill-child', '--mount-proc', resolve('deploy/cluster/entrypoint.sh'), 'agent'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        // The image has the Node that these tests run on, not another of this machine.
        PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
        HEDDLE_HOST_ROOT: '/run/host',
        HEDDLE_NODE_NAME: 'node-7.example.org',
        HEDDLE_STORE: 'sqlite:///var/lib/heddle/store.db',
        HEDDLE_UP_FLAGS: '--pool 10.42.0.0/16 --encapsulation never',
      },
    },
  );
  let said = '';
  container.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(container, 'exit');
  try {
    const node = await until(
      'the agent to have joined',
      () => {
        assert.equal(container.exitCode, null, said);
        const status = spawnSync(process.execPath, [command, 'agent', 'status', '-o', 'json'], {
          encoding: 'utf8',
        });
        const { node: found } = JSON.parse(status.stdout) as { node?: { name: string; ready: boolean } };
        return found?.ready === true ? found : undefined;
      },
      120,
    );
    assert.equal(node.name, 'node-7.example.org');
    assert.match(readFileSync('/etc/cni/net.d/10-heddle.conflist', 'utf8'), /"type": "heddle"/);
    assert.ok(existsSync('/opt/cni/bin/heddle-shim'));
  } finally {
    // unshare(1) passes no other signal on, and takes the agent with it.
    container.kill('SIGKILL');
    await ended;
  }
});
