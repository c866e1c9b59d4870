/** `heddle explain --plan`, as a program of its own on a node of its own: what it tells, and that the node stays as it is. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { runProcess } from '@heddle/cni/runtime';
import { TestNetns } from '@heddle/plugins/testing';
import { enterPrivateMounts, mountTmpfs, runInNetns } from '@heddle/sys';
import { installPlugins } from '../support/plugin-directory.ts';
import { missing, missingReference, REFERENCE } from '../support/programs.ts';

interface Change {
  readonly side: 'host' | 'pod';
  readonly sign: '+' | '-';
  readonly matter: string;
  readonly text: string;
  readonly by: string;
  readonly isThere?: boolean;
}

interface Planned {
  readonly plan: {
    readonly result: { readonly ips: readonly { readonly address: string }[] } | null;
    readonly failure: { readonly message: string } | null;
    readonly steps: readonly { readonly type: string; readonly stdin: string }[];
    readonly changes: readonly Change[];
    readonly files: readonly { readonly path: string; readonly what: string; readonly by: string }[];
    readonly notes: readonly string[];
  };
}

// Other tests write there at the same time. This file's process is one of its own: the mounts end with it.
enterPrivateMounts();
for (const directory of ['/run', '/var/lib']) mountTmpfs(directory);

/** A node with a device that has another end, a bridge, a rule and a table of nftables. */
class PlanLab implements Disposable {
  readonly node = new TestNetns();
  readonly far = new TestNetns();
  readonly root = mkdtempSync(join(tmpdir(), 'heddle-plan-'));
  readonly bin: string;

  constructor(bin?: string) {
    for (const each of [this.node, this.far]) each.skipAddressDetection();
    this.node.run('ip link set lo up');
    this.node.join(this.far, ['eth0', 'up0']);
    this.node.run('ip addr add 192.0.2.5/24 dev eth0');
    this.node.run('ip route add default via 192.0.2.1');
    this.node.run('ip link add br9 type bridge');
    this.node.run('ip addr add 10.46.0.1/24 dev br9');
    this.node.run('ip link set br9 up');
    this.node.run('ip rule add from 10.9.0.0/16 lookup 77 priority 500');
    for (const name of ['net.d', 'data', 'cache']) mkdirSync(join(this.root, name));
    this.bin = bin ?? installPlugins(join(this.root, 'bin'));
  }

  /** The network `podnet`, of these plugins. */
  network(...plugins: readonly object[]): void {
    const list = { cniVersion: '1.0.0', name: 'podnet', plugins };
    writeFileSync(join(this.root, 'net.d/10-podnet.conflist'), JSON.stringify(list));
  }

  ipam(subnet: string): object {
    return { type: 'host-local', subnet, dataDir: join(this.root, 'data') };
  }

  async heddle(...args: readonly string[]) {
    const started: ReturnType<typeof runProcess>[] = [];
    const main = resolve('packages/cli/src/main.ts');
    const env = {
      PATH: process.env['PATH'] ?? '',
      NETCONFPATH: join(this.root, 'net.d'),
      CNI_PATH: this.bin,
    };
    const words = [
      '--conditions=source',
      main,
      'explain',
      '--plan',
      '--cache-dir',
      join(this.root, 'cache'),
      ...args,
    ];
    runInNetns(this.node.handle, () => {
      started.push(runProcess({ path: process.execPath, args: words, env, stdin: '' }));
    });
    const [end] = await Promise.all(started);
    assert.ok(end !== undefined);
    return end;
  }

  /** Plans, and checks that the node is as before. */
  async plan(...args: readonly string[]): Promise<Planned['plan'] & { readonly exitCode: number | null }> {
    const before = this.everything();
    const { exitCode, stdout, stderr } = await this.heddle('-o', 'json', ...args);
    assert.equal(stderr, '');
    const after = this.everything();
    assert.deepEqual(
      [...before.filter((line) => !after.includes(line)), ...after.filter((line) => !before.includes(line))],
      [],
    );
    return { ...(JSON.parse(stdout) as Planned).plan, exitCode };
  }

  /** The whole of the node: its network, its files, its mounts. */
  everything(): readonly string[] {
    const commands = [
      ...[
        '-d link',
        '-d addr',
        'route show table all',
        '-6 route show table all',
        'rule',
        '-6 rule',
        'neigh',
      ],
    ].map((words) => this.node.run('ip', ...words.split(' ')).replaceAll(/timer +[\d.]+/g, 'timer'));
    const settings = this.node
      .run('sysctl', '-a')
      .split('\n')
      .filter((line) => /^net\.(ipv4|ipv6|bridge)/.test(line) && !/mem|_secret|fastopen_key/.test(line));
    const files = ['/run', '/etc', '/var/lib/cni', '/var/lib/heddle', this.root].flatMap(digests);
    return [...commands, ...settings, this.node.ruleset, ...files, ...this.mounts()];
  }

  /** Namespaces of tests that run at the same time come and go, and are none of this one's. */
  mounts(): readonly string[] {
    const own = (line: string) => !line.includes(' - nsfs ') || line.includes(this.root);
    return readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(own);
  }

  [Symbol.dispose](): void {
    this.node[Symbol.dispose]();
    this.far[Symbol.dispose]();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Every file below a directory, with its content and times. */
function digests(directory: string): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted();
  } catch {
    return [`${directory} is not there`];
  }
  return names.map((name) => {
    const path = join(directory, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    const digest =
      stats?.isFile() === true ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
    return `${path} ${stats?.mode} ${stats?.size} ${stats?.isDirectory() ? '' : stats?.mtimeMs} ${digest}`;
  });
}

const lines = (changes: readonly Change[], side: Change['side'], matter: string) =>
  changes
    .filter((each) => each.side === side && each.matter === matter)
    .map(({ sign, text }) => `${sign} ${text}`);

const skip = missing('ip', 'nft', 'sysctl');

describe('heddle explain --plan', { skip }, () => {
  test('tells what a chain of ours makes on both sides, and leaves the node alone', async () => {
    using lab = new PlanLab();
    lab.network(
      { type: 'bridge', bridge: 'br9', isGateway: true, ipMasq: true, ipam: lab.ipam('10.46.0.0/24') },
      { type: 'portmap', capabilities: { portMappings: true } },
    );
    const ports = '{"portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"tcp"}]}';
    lab.node.run('nft add table inet heddle');
    const { exitCode, result, failure, steps, changes, files, notes } = await lab.plan(
      'podnet',
      '--cap',
      ports,
    );
    assert.deepEqual({ exitCode, failure }, { exitCode: 0, failure: null });
    assert.deepEqual(
      result?.ips.map(({ address }) => address),
      ['10.46.0.2/24'],
    );
    // The bridge is there on the node, and so on its copy: only the port is new.
    const links = lines(changes, 'host', 'link');
    assert.equal(links.length, 1, links.join('\n'));
    assert.match(links[0] ?? '', /^\+ \S+: veth, up, mtu 1500, .*other end in the pod, in br9/);
    assert.match(lines(changes, 'pod', 'link')[0] ?? '', /^\+ eth0: veth, up, .*other end on the host/);
    assert.deepEqual(lines(changes, 'pod', 'address'), ['+ 10.46.0.2/24 on eth0']);
    assert.deepEqual(lines(changes, 'host', 'address'), []);
    assert.ok(lines(changes, 'pod', 'route').includes('+ 10.46.0.0/24 dev eth0 scope link src 10.46.0.2'));
    const nft = lines(changes, 'host', 'nftables');
    assert.ok(
      nft.some((text) => /in \S+: tcp \. 8080 → 10\.46\.0\.2 \. 80/.test(text)),
      nft.join('\n'),
    );
    const table = changes.find(({ text }) => text === 'table inet heddle');
    assert.equal(table?.isThere, true);
    assert.ok(lines(changes, 'host', 'parameter').includes('+ net/ipv4/ip_forward = 1'));
    assert.deepEqual(
      files.filter(({ path }) => path.endsWith('10.46.0.2')).map(({ what, by }) => ({ what, by })),
      [{ what: 'made', by: 'bridge' }],
    );
    assert.deepEqual(
      steps.map(({ type }) => type),
      ['bridge', 'portmap'],
    );
    assert.match(steps[1]?.stdin ?? '', /"prevResult":\{.*10\.46\.0\.2/);
    assert.ok(
      notes.some((note) => /stand in for eth0 \(veth\)/.test(note)),
      notes.join('\n'),
    );
  });

  test('puts a link that leads nowhere under macvlan, and sees what is reserved', async () => {
    using lab = new PlanLab();
    mkdirSync(join(lab.root, 'data/podnet'));
    writeFileSync(join(lab.root, 'data/podnet/192.0.2.2'), 'other\r\neth0');
    lab.network({ type: 'macvlan', master: 'eth0', ipam: lab.ipam('192.0.2.0/29') });
    const { failure, changes, result } = await lab.plan('podnet');
    assert.equal(failure, null);
    assert.match(lines(changes, 'pod', 'link')[0] ?? '', /^\+ eth0: macvlan, up, .*on a link on the host/);
    assert.deepEqual(
      result?.ips.map(({ address }) => address),
      ['192.0.2.3/29'],
    );
  });

  test('tells why ADD fails, and what it leaves', async () => {
    using lab = new PlanLab();
    lab.network(
      { type: 'bridge', bridge: 'br9', ipam: lab.ipam('10.46.0.0/24') },
      { type: 'tuning', sysctl: { 'net.ipv4.conf.eth0.nonsense': '1' } },
    );
    const { exitCode, failure, result, changes } = await lab.plan('podnet');
    assert.equal(exitCode, 1);
    assert.equal(result, null);
    assert.match(failure?.message ?? '', /plugin type="tuning" failed \(add\).*nonsense/);
    assert.ok(lines(changes, 'host', 'link').length > 0);
    const text = await lab.heddle('podnet');
    assert.match(text.stdout, /^Changes on the host\n {2}link\n {4}\+ veth/m);
    assert.match(text.stdout, /^ADD fails\n {2}plugin type="tuning" failed/m);
  });

  const absent = missingReference('bridge', 'host-local', 'firewall');
  test("runs anybody's programs: the reference's, with iptables and bandwidth", {
    skip: absent || missing('iptables'),
  }, async () => {
    using lab = new PlanLab(REFERENCE.current);
    lab.network(
      { type: 'bridge', bridge: 'cni7', isGateway: true, ipMasq: true, ipam: lab.ipam('10.47.0.0/24') },
      { type: 'firewall' },
      { type: 'bandwidth', ingressRate: 1_000_000, ingressBurst: 100_000 },
    );
    const { failure, changes } = await lab.plan('podnet');
    assert.equal(failure, null);
    assert.match(lines(changes, 'host', 'link')[0] ?? '', /^\+ cni7: bridge, up/);
    assert.deepEqual(lines(changes, 'host', 'address'), ['+ 10.47.0.1/24 on cni7']);
    const traffic = lines(changes, 'host', 'tc');
    assert.ok(
      traffic.some((text) => /qdisc tbf 1:, rate 1000000 bit\/s, burst 12500 bytes/.test(text)),
      traffic.join('\n'),
    );
    const rules = [...lines(changes, 'host', 'iptables'), ...lines(changes, 'host', 'nftables')];
    assert.ok(
      rules.some((text) => /ip saddr 10\.47\.0\.2/.test(text)),
      rules.join('\n'),
    );
  });
});
