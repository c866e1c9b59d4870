import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runInNetns } from '@heddle/sys';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';
import { Node, type Pod } from '../support/node.ts';
import { installPlugins } from '../support/plugin-directory.ts';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';

const skip = missing('podman', 'runc', 'busybox', 'curl');

/** podman in a node of its own, on our plugins. */
class Podman {
  readonly node = new Node();
  readonly #directory = this.node.directory;
  readonly #env: NodeJS.ProcessEnv;

  constructor() {
    const conf = join(this.#directory, 'containers.conf');
    mkdirSync(join(this.#directory, 'net.d'));
    installPlugins(join(this.#directory, 'bin'));
    writeFileSync(
      conf,
      `[containers]\ndefault_ulimits = []\n[engine]\nruntime = "runc"\n[network]\nnetwork_backend = "cni"\ncni_plugin_dirs = ["${this.#directory}/bin"]\nnetwork_config_dir = "${this.#directory}/net.d"\n`,
    );
    this.#env = { ...process.env, CONTAINERS_CONF: conf };
    this.#makeImage();
  }

  run(...args: readonly string[]): string {
    const { directory } = this.node;
    const all = ['--root', join(directory, 'root'), '--runroot', join(directory, 'runroot'), ...args];
    const { status, stdout, stderr } = this.node.inside(() =>
      spawnSync('podman', all, { encoding: 'utf8', env: this.#env }),
    );
    if (status !== 0) throw new Error(`podman ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  network(name: string, list: object): void {
    writeFileSync(join(this.#directory, 'net.d', `${name}.conflist`), JSON.stringify({ name, ...list }));
  }

  /** What is left on the node, and in the directories that podman's libcni and host-local use. */
  state(): readonly string[] {
    return leftovers(this.node, [
      '/var/lib/cni/networks/dual',
      { directory: '/var/lib/cni/results', startsWith: 'dual-' },
    ]);
  }

  close(): void {
    this.run('rm', '--all', '--force', '--time', '0');
    this.node[Symbol.dispose]();
  }

  #makeImage(): void {
    const rootfs = join(this.#directory, 'rootfs');
    mkdirSync(join(rootfs, 'bin'), { recursive: true });
    mkdirSync(join(rootfs, 'www'));
    mkdirSync(join(rootfs, 'etc'));
    cpSync('/bin/busybox', join(rootfs, 'bin/busybox'));
    for (const name of ['sh', 'httpd', 'ip', 'sleep', 'ping', 'nc'])
      symlinkSync('busybox', join(rootfs, 'bin', name));
    writeFileSync(join(rootfs, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\n');
    writeFileSync(join(rootfs, 'www/index.html'), 'hello\n');
    const tar = join(this.#directory, 'rootfs.tar');
    execFileSync('tar', ['-C', rootfs, '-cf', tar, '.']);
    this.run('import', tar, 'localhost/bb:1');
  }
}

const WEB = ['localhost/bb:1', '/bin/httpd', '-f', '-p', '80', '-h', '/www'] as const;

function fetch(from: Node | Pod, url: string): string {
  return from.run('curl', '-sf', '-g', '--max-time', '3', url).trim();
}

let podman: Podman;
before(() => {
  if (skip !== false) return;
  podman = new Podman();
  podman.network('dual', {
    cniVersion: '0.4.0',
    plugins: [
      {
        type: 'bridge',
        bridge: 'hdpod0',
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        capabilities: { ips: true },
        ipam: {
          type: 'host-local',
          ranges: [
            [{ subnet: '10.89.5.0/24', gateway: '10.89.5.1' }],
            [{ subnet: 'fd00:89:5::/64', gateway: 'fd00:89:5::1' }],
          ],
          routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
      { type: 'firewall', backend: '' },
      // podman never sends limits: they are the network's.
      {
        type: 'bandwidth',
        ingressRate: 100_000_000,
        ingressBurst: 10_000_000,
        egressRate: 100_000_000,
        egressBurst: 10_000_000,
      },
      { type: 'tuning', mtu: 1400 },
    ],
  });
});
after(() => {
  if (skip === false) podman.close();
});

test('podman publishes a port of a container with a static address, and removes it without a trace', {
  skip,
}, async () => {
  const run = () =>
    podman.run(
      'run',
      '-d',
      '--name',
      'web',
      '--network',
      'dual',
      '--ip',
      '10.89.5.30',
      '-p',
      '8080:80',
      ...WEB,
    );
  run();
  podman.run('rm', '-f', '-t', '0', 'web');
  const before = podman.state();
  run();
  assert.match(
    podman.run('exec', 'web', '/bin/ip', 'addr', 'show', 'eth0'),
    /inet 10\.89\.5\.30\/24[\s\S]*inet6 fd00:89:5::/,
  );
  assert.equal(await until('the port', () => fetch(podman.node, 'http://127.0.0.1:8080/')), 'hello');
  using outside = podman.node.pod('outside');
  connect(podman.node, outside, '198.51.100');
  assert.equal(fetch(outside, 'http://198.51.100.1:8080/'), 'hello');
  podman.node.run('ip', 'link', 'del', 'hdout');
  podman.run('rm', '-f', '-t', '0', 'web');
  assert.throws(() => fetch(podman.node, 'http://127.0.0.1:8080/'));
  assertUnchanged(before, podman.state());
});

test('two static addresses, one of each family, are what the container gets', { skip }, () => {
  const command = ['/bin/ip', 'addr', 'show', 'eth0'];
  const args = [
    'run',
    '--rm',
    '--network',
    'dual',
    '--ip',
    '10.89.5.77',
    '--ip6',
    'fd00:89:5::77',
    'localhost/bb:1',
  ];
  const text = podman.run(...args, ...command);
  assert.match(text, /inet 10\.89\.5\.77\/24/);
  assert.match(text, /inet6 fd00:89:5::77\/64/);
});

test('containers on one network reach each other, and reloading a network keeps the address', {
  skip,
}, async () => {
  podman.run('run', '-d', '--name', 'a', '--network', 'dual', '-p', '8081:80', ...WEB);
  const address = podman.run(
    'inspect',
    'a',
    '--format',
    '{{(index .NetworkSettings.Networks "dual").IPAddress}}',
  );
  podman.run(
    'run',
    '--rm',
    '--network',
    'dual',
    'localhost/bb:1',
    '/bin/ping',
    '-c',
    '1',
    '-W',
    '3',
    address,
  );
  podman.run('network', 'reload', 'a');
  assert.equal(
    podman.run('inspect', 'a', '--format', '{{(index .NetworkSettings.Networks "dual").IPAddress}}'),
    address,
  );
  assert.equal(
    await until('the port after reload', () => fetch(podman.node, 'http://127.0.0.1:8081/')),
    'hello',
  );
  podman.run('rm', '-f', '-t', '0', 'a');
});

function connect(node: Node, outside: Pod, net: string): void {
  node.run('ip', 'link', 'add', 'hdout', 'type', 'veth', 'peer', 'name', 'hdin');
  // Moved by descriptor: the other namespace has no name.
  runInNetns(node.handle, () => execFileSync('ip', ['link', 'set', 'hdin', 'netns', outside.path]));
  node.run('ip', 'address', 'add', `${net}.1/24`, 'dev', 'hdout');
  node.run('ip', 'link', 'set', 'hdout', 'up');
  outside.run('ip', 'address', 'add', `${net}.2/24`, 'dev', 'hdin');
  outside.run('ip', 'link', 'set', 'hdin', 'up');
}
