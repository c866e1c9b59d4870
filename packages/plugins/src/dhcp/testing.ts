/**
 * A node for tests of the plugin: a daemon in this process, and a link (a bridge `hdbr` with a veth end `hdup` as a
 * master for links that need one) that leads to dnsmasq in a namespace of its own.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plugin } from '@heddle/cni/plugin';
import { runDaemon } from '@heddle/dhcp/daemon';
import { runInNetns } from '@heddle/sys';
import { PluginLab, TestNetns } from '../testing/index.ts';
import { dhcpAt } from './index.ts';

/** Why tests with a DHCP server are skipped; `false` when there is one. */
export const NO_SERVER = spawnSync('dnsmasq', ['--version']).status === 0 ? false : 'not installed: dnsmasq';

/** See the file's comment. */
export class DhcpNode extends AsyncDisposableStack {
  readonly lab: PluginLab;
  readonly socketPath: string;
  /** What the server and the daemon said. */
  log = '';
  readonly #directory = mkdtempSync(join(tmpdir(), 'heddle-dhcp-'));
  #server: ChildProcess | undefined;
  #stopDaemon = () => {};
  #daemon: Promise<number> | undefined;

  /** @param mains the main plugins that can be called */
  constructor(mains: readonly Plugin[]) {
    super();
    this.defer(() => rmSync(this.#directory, { recursive: true }));
    this.lab = this.use(new PluginLab([...mains, dhcpAt({ stateDir: this.#file('leases') })]));
    this.socketPath = this.#file('dhcp.sock');
    const server = this.use(new TestNetns());
    const { host } = this.lab;
    host.run('ip', 'link', 'add', 'hdbr', 'type', 'bridge');
    host.run('ip', 'link', 'set', 'hdbr', 'up');
    const there = `/proc/${process.pid}/fd/${server.handle.number}`;
    host.run('ip', 'link', 'add', 'hdsrv', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', there);
    host.run('ip', 'link', 'set', 'hdsrv', 'master', 'hdbr', 'up');
    host.run('ip', 'link', 'add', 'hdup', 'type', 'veth', 'peer', 'name', 'hdport');
    host.run('ip', 'link', 'set', 'hdport', 'master', 'hdbr', 'up');
    host.run('ip', 'link', 'set', 'hdup', 'up');
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

  /** The `ipam` object of configurations. */
  get ipam() {
    return { type: 'dhcp', daemonSocketPath: this.socketPath };
  }

  /** Starts the daemon, and waits until it listens. */
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

  /** Ends it; leases stay. */
  async stopDaemon(): Promise<void> {
    this.#stopDaemon();
    await this.#daemon;
  }

  /** Waits until the server or the daemon says something. */
  async said(what: string | RegExp): Promise<void> {
    for (let tries = 0; tries < 1000; tries++) {
      if (typeof what === 'string' ? this.log.includes(what) : what.test(this.log)) return;
      await sleep(10);
    }
    throw new Error(`waited in vain for ${what} in:\n${this.log}`);
  }

  #file(name: string): string {
    return join(this.#directory, name);
  }
}
