/**
 * The command as a user has it: a process, in a machine with nothing on it yet. It installs the plugins,
 * attaches, shows, runs and cleans up, with default places only.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { relative } from 'node:path';
import { after, before, test } from 'node:test';
import { buildStandalone } from '../../scripts/build-standalone.ts';
import { until } from '../support/until.ts';

/** Empty directories in place of those that the command uses, and the project where none of them can hide it. */
const PREPARE = `
  mount -t tmpfs none /run
  mkdir /run/project
  mount --rbind . /run/project
  for directory in /var/lib /opt /etc; do mount -t tmpfs none $directory; done
  ip link set lo up
  echo ready
  exec sleep infinity`;

let machine: ChildProcess;

before(async () => {
  buildStandalone();
  const unshare = ['--net', '--mount', '--propagation', 'private', 'sh', '-c', PREPARE];
  machine = spawn('unshare', unshare, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(machine.stdout as NodeJS.ReadableStream, 'data');
});

after(async () => {
  machine.kill('SIGKILL');
  await once(machine, 'exit');
});

function enter(...command: readonly string[]): readonly string[] {
  return [`--target=${machine.pid}`, '--net', '--mount', '--', ...command];
}

function inside(...command: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('nsenter', enter(...command), { encoding: 'utf8' });
  assert.equal(status, 0, `${command.join(' ')}: ${stderr}`);
  return stdout;
}

const PROJECT = '/run/project';
const HEDDLE = [
  `${PROJECT}/${relative('.', process.execPath)}`,
  '--conditions=source',
  `${PROJECT}/packages/cli/src/main.ts`,
] as const;

function heddle(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync('nsenter', enter(...HEDDLE, ...args), { encoding: 'utf8' });
  return { status, stdout, stderr };
}

function succeeds(...args: readonly string[]): string {
  const { status, stdout, stderr } = heddle(...args);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' }, args.join(' '));
  return stdout;
}

/** What a command prints first; nothing when it ends before. */
async function firstLine({ stdout }: ChildProcess): Promise<string> {
  for await (const chunk of stdout ?? []) return String(chunk);
  return '';
}

test('a machine goes from nothing to attached containers and back', () => {
  succeeds('install');
  assert.match(succeeds('version', 'heddle'), /^host-local .* yes +\/opt\/cni\/bin\/host-local$/m);
  succeeds('status', 'heddle');
  inside('ip', 'netns', 'add', 'hdblue');
  const { ips } = JSON.parse(succeeds('add', 'heddle', 'hdblue'));
  assert.equal(ips.length, 2);
  succeeds('check', 'heddle', 'hdblue');
  for (const { gateway } of ips) {
    inside('ip', 'netns', 'exec', 'hdblue', 'ping', '-n', '-c', '1', '-W', '2', gateway);
  }
  assert.match(succeeds('ls'), /^heddle +cnitool-\S+ +eth0 +10\.\S+ fd\S+ +\S+ +attached$/m);
  assert.match(succeeds('show', 'hdblue'), /^in nftables$/m);
  succeeds('del', 'heddle', 'hdblue');
  assert.equal(succeeds('ls'), 'no attachments\n');
  succeeds('uninstall');
  assert.equal(inside('find', '/opt', '/etc/cni', '-type', 'f', '-o', '-type', 'l'), '');
});

test('run lets its command end on SIGTERM, and leaves nothing', async () => {
  succeeds('install');
  const script =
    'trap "exit 3" TERM; echo "on $(ip -4 -o address show eth0 | wc -l)"; while :; do sleep 0.05; done';
  const running = spawn(
    'nsenter',
    enter(...HEDDLE, 'run', '--name', 'hdrun', 'heddle', '--', 'sh', '-c', script),
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  assert.equal(await firstLine(running), 'on 1\n');
  // nsenter has become the command, so this is its own process.
  running.kill('SIGTERM');
  const [code] = await once(running, 'exit');
  assert.equal(code, 3);
  assert.equal(succeeds('ls'), 'no attachments\n');
  await until('the link to go', () => (/veth/.test(inside('ip', '-o', 'link')) ? undefined : true));
  assert.equal(inside('find', '/run/netns', '-name', 'hdrun'), '');
  succeeds('uninstall');
});

test('run that is killed leaves a stale attachment, which gc frees', async () => {
  succeeds('install');
  const running = spawn(
    'nsenter',
    enter(...HEDDLE, 'run', '--name', 'hdrun', 'heddle', '--', 'sh', '-c', 'echo on; exec sleep 0.5'),
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  assert.equal(await firstLine(running), 'on\n');
  running.kill('SIGKILL');
  await once(running, 'exit');
  assert.match(succeeds('ls'), / attached$/m);
  inside('ip', 'netns', 'del', 'hdrun');
  assert.match(succeeds('ls', '--stale'), / stale$/m);
  succeeds('gc', 'heddle', '--keep-live');
  assert.equal(succeeds('ls'), 'no attachments\n');
  succeeds('uninstall');
});

test('output that nobody reads any more ends quietly', () => {
  const script = `${HEDDLE.join(' ')} help run | head -n 1`;
  const { status, stdout, stderr } = spawnSync('nsenter', enter('sh', '-c', script), { encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  assert.match(stdout, /^heddle run: /);
});
