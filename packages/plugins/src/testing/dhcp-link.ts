/**
 * A link with DHCP on it: on the host a bridge `hdbr`, and a veth end `hdup` that leads into it, as a master for links
 * that need one; behind the bridge dnsmasq, in a namespace of its own. A daemon runs in this process when told to.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runDaemon } from '@heddle/dhcp/daemon';
import { TestNetns } from '@heddle/netlink/testing';
import { runInNetns } from '@heddle/sys';

/** See the file's comment. */
export class DhcpLink extends AsyncDisposableStack {
  /** Why tests with a DHCP server are skipped; `false` when there is one. */
  static get ABSENT(): string | false {
    return spawnSync('dnsmasq', ['--version']).status === 0 ? false : 'not installed: dnsmasq';
  }

  readonly socketPath: string;
  /** Where the daemon keeps its leases. */
  readonly stateDir: string;
  /** What the server and the daemon said. */
  log = '';
  readonly #serverLeases: string;
  readonly #server: ChildProcess;
  #stopDaemon = () => {};
  #daemon: Promise<number> | undefined;

  /** @param directory where the server and the daemon keep their files */
  constructor(host: TestNetns, directory: string) {
    super();
    this.stateDir = join(directory, 'leases');
    this.socketPath = join(directory, 'dhcp.sock');
    this.#serverLeases = join(directory, 'dnsmasq.leases');
    const server = this.use(new TestNetns());
    host.run('ip link add hdbr type bridge');
    host.run('ip link set hdbr up');
    host.join(server, ['hdsrv', 'eth0']);
    host.run('ip link add hdup type veth peer name hdport');
    host.run('ip link set hdup up');
    for (const port of ['hdsrv', 'hdport']) {
      host.run(`ip link set ${port} master hdbr up`);
      // What the bridge learned of somebody who is gone would look like something left.
      host.run(`bridge link set dev ${port} learning off`);
    }
    server.run('ip address add 192.0.2.1/24 dev eth0');
    this.#server = runInNetns(server.handle, () =>
      spawn('dnsmasq', [
        ...['--no-daemon', '--conf-file=/dev/null', '--port=0', '--pid-file=', '--no-ping'],
        ...['--interface=eth0', '--bind-interfaces', '--dhcp-authoritative', '--dhcp-option=6,192.0.2.53'],
        ...['--dhcp-option=121,10.0.0.0/8,192.0.2.2,198.51.100.0/24,0.0.0.0,0.0.0.0/0,192.0.2.1'],
        ...[`--dhcp-leasefile=${this.#serverLeases}`, '--dhcp-range=192.0.2.10,192.0.2.20,2m'],
      ]),
    );
    for (const stream of [this.#server.stdout, this.#server.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.log += text;
      });
    }
    this.defer(() => this.stopDaemon());
    this.defer(() => void this.#server.kill('SIGKILL'));
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
    const args = ['-socketpath', this.socketPath, '-statedir', this.stateDir];
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
    await this.#until(
      () => (typeof what === 'string' ? this.log.includes(what) : what.test(this.log)),
      `${what}`,
    );
  }

  /** Waits until nobody has a lease of the server's. */
  async allReturned(): Promise<void> {
    await this.#until(
      () =>
        !existsSync(this.#serverLeases) || !readFileSync(this.#serverLeases, 'utf8').includes(' 192.0.2.'),
      'the return of all leases',
    );
  }

  async #until(isSo: () => boolean, what: string): Promise<void> {
    for (let tries = 0; tries < 1000; tries++) {
      if (isSo()) return;
      await sleep(10);
    }
    throw new Error(`waited in vain for ${what} in:\n${this.log}`);
  }
}
