/** The plugin below a main plugin, with a daemon in this process and dnsmasq on the bridge. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runDaemon } from '@heddle/dhcp/daemon';
import { runInNetns } from '@heddle/sys';
import { bridge } from '../bridge/index.ts';
import { PluginLab, TestNetns } from '../testing/index.ts';
import { dhcpAt } from './index.ts';

const skip = spawnSync('dnsmasq', ['--version']).status === 0 ? false : 'not installed: dnsmasq';

/** A node whose bridge leads to a DHCP server. */
class DhcpNode extends AsyncDisposableStack {
  readonly lab: PluginLab;
  readonly socketPath: string;
  /** What the server and the daemon said. */
  log = '';
  readonly #directory = mkdtempSync(join(tmpdir(), 'heddle-dhcp-'));
  #server: ChildProcess | undefined;
  #stopDaemon = () => {};
  #daemon: Promise<number> | undefined;

  constructor() {
    super();
    this.defer(() => rmSync(this.#directory, { recursive: true }));
    this.lab = this.use(new PluginLab([bridge, dhcpAt({ stateDir: this.#file('leases') })]));
    this.socketPath = this.#file('dhcp.sock');
    const server = this.use(new TestNetns());
    const { host } = this.lab;
    host.run('ip', 'link', 'add', 'hdbr', 'type', 'bridge');
    host.run('ip', 'link', 'set', 'hdbr', 'up');
    const there = `/proc/${process.pid}/fd/${server.handle.number}`;
    host.run('ip', 'link', 'add', 'hdsrv', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', there);
    host.run('ip', 'link', 'set', 'hdsrv', 'master', 'hdbr', 'up');
    server.run('ip', 'address', 'add', '192.0.2.1/24', 'dev', 'eth0');
    server.run('ip', 'link', 'set', 'eth0', 'up');
    const child = runInNetns(server.handle, () =>
      spawn('dnsmasq', [
        ...['--no-daemon', '--conf-file=/dev/null', '--port=0', '--pid-file=', '--no-ping'],
        ...['--interface=eth0', '--bind-interfaces', '--dhcp-authoritative', '--dhcp-option=6,192.0.2.53'],
        ...['--dhcp-option=121,10.0.0.0/8,192.0.2.2,198.51.100.0/24,0.0.0.0,0.0.0.0/0,192.0.2.1'],
        ...[`--dhcp-leasefile=${this.#file('dnsmasq.leases')}`],
        '--dhcp-range=192.0.2.10,192.0.2.20,2m',
      ]),
    );
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.log += text;
      });
    }
    this.#server = child;
    this.defer(() => this.stopDaemon());
    this.defer(() => void this.#server?.kill('SIGKILL'));
  }

  /** What an ADD and a CHECK of the bridge are called with. */
  get config() {
    return {
      ...{ type: 'bridge', bridge: 'hdbr' },
      ipam: { type: 'dhcp', daemonSocketPath: this.socketPath },
    };
  }

  async startDaemon(): Promise<void> {
    const io = {
      ...{ env: {}, pid: process.pid, random: Math.random },
      stderr: (text: string) => {
        this.log += text;
      },
      onStop: (stop: () => void) => {
        this.#stopDaemon = stop;
      },
    };
    const args = ['-socketpath', this.socketPath, '-statedir', this.#file('leases')];
    this.#daemon = runDaemon(args, io);
    while (!existsSync(this.socketPath)) await sleep(5);
  }

  async stopDaemon(): Promise<void> {
    this.#stopDaemon();
    await this.#daemon;
  }

  #file(name: string): string {
    return join(this.#directory, name);
  }

  async said(what: string | RegExp): Promise<void> {
    for (let tries = 0; tries < 1000; tries++) {
      if (typeof what === 'string' ? this.log.includes(what) : what.test(this.log)) return;
      await sleep(10);
    }
    throw new Error(`waited in vain for ${what} in:\n${this.log}`);
  }
}

test('a container on a bridge has the address, the routes and the name servers of a lease', {
  skip,
}, async () => {
  await using node = new DhcpNode();
  const { lab, config } = node;
  await node.startDaemon();
  const container = lab.container();
  const result = await lab.add({ config, container });
  const [{ address } = { address: '' }] = result.ips ?? [];
  assert.match(address, /^192\.0\.2\.(1\d|20)\/24$/);
  assert.deepEqual(result.dns, { nameservers: ['192.0.2.53'] });
  assert.match(container.run('ip', '-o', 'address', 'show', 'eth0'), new RegExp(` ${address} `));
  const routes = container.run('ip', 'route').replace(/ +$/gm, '').trim().split('\n').sort();
  assert.deepEqual(routes, [
    '10.0.0.0/8 via 192.0.2.2 dev eth0',
    `192.0.2.0/24 dev eth0 proto kernel scope link src ${address.split('/')[0]}`,
    '198.51.100.0/24 dev eth0 scope link',
    'default via 192.0.2.1 dev eth0',
  ]);
  assert.ok(container.pings('192.0.2.1'));
  await lab.check({ config, container, prevResult: result });
  await lab.del({ config, container, prevResult: result });
  await node.said(`DHCPRELEASE(eth0) ${address.split('/')[0]}`);
  await lab.del({ config, container });
});

test('an ADD that fails after the lease gives it back', { skip }, async () => {
  await using node = new DhcpNode();
  const { lab, config } = node;
  await node.startDaemon();
  // The gateway cannot be made: the bridge has another address already.
  lab.host.run('ip', 'address', 'add', '198.51.100.1/24', 'dev', 'hdbr');
  await assert.rejects(lab.add({ config: { ...config, isGateway: true }, container: lab.container() }));
  assert.match(node.log, /leased (192\.0\.2\.\d+)/);
  await node.said(/DHCPRELEASE\(eth0\) 192\.0\.2\.\d+/);
  assert.match(node.log, /gave 192\.0\.2\.\d+ back/);
});

test('without a daemon, DEL and GC give leases back by themselves', { skip }, async () => {
  await using node = new DhcpNode();
  const { lab, config } = node;
  await node.startDaemon();
  const containers = ['c1', 'c2', 'c3'].map((id) => lab.container(id));
  const addresses: string[] = [];
  for (const container of containers) {
    const { ips } = await lab.add({ config, container });
    addresses.push(ips?.[0]?.address.split('/')[0] ?? '');
  }
  await node.stopDaemon();
  const [one, , three] = containers;
  await lab.del({ config, ...(one && { container: one }) });
  await node.said(`DHCPRELEASE(eth0) ${addresses[0]}`);
  await lab.gc(config, [{ containerID: 'c3', ifname: 'eth0' }]);
  await node.said(`DHCPRELEASE(eth0) ${addresses[1]}`);
  assert.ok(!node.log.includes(`DHCPRELEASE(eth0) ${addresses[2]}`));
  await node.startDaemon();
  await node.said(/c3\/net1\/eth0: goes on with/);
  await lab.del({ config, ...(three && { container: three }) });
});

test('CHECK sees an interface that another lease is used on', { skip }, async () => {
  await using node = new DhcpNode();
  const { lab, config } = node;
  await node.startDaemon();
  const container = lab.container();
  const result = await lab.add({ config, container });
  await lab.check({ config, container, prevResult: result });
  const other = { ...result, ips: [{ ...result.ips?.[0], address: '192.0.2.99/24' }] };
  await assert.rejects(lab.check({ config, container, prevResult: other }), { cniCode: 150 });
  await node.stopDaemon();
  await assert.rejects(lab.check({ config, container, prevResult: result }), { cniCode: 11 });
});
