/**
 * A link with DHCP servers and pods on it: a bridge in a namespace that plays the node, where the daemon and the
 * plugins run as processes. Pods have their interfaces already, so that only the address is missing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PluginError, parseResult, type Result } from '@heddle/cni';
import { TestNetns } from '@heddle/plugins/testing';
import { type NetnsHandle, runInNetns } from '@heddle/sys';
import { buildStandalone } from '../../scripts/build-standalone.ts';
import { Node } from '../support/node.ts';
import { until } from '../support/until.ts';

/** A program that runs in a namespace, with what it has said so far. */
export class Running implements Disposable {
  readonly process: ChildProcess;
  stdout = '';
  /** Both of its outputs. */
  output = '';
  readonly #closed: Promise<unknown>;

  constructor(
    netns: NetnsHandle,
    program: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    stdin?: string,
    /** A descriptor that it gets as its number 3. */
    third?: number,
  ) {
    const stdio = ['pipe', 'pipe', 'pipe', ...(third === undefined ? [] : [third])] as [
      'pipe',
      'pipe',
      'pipe',
    ];
    const child = runInNetns(netns, () => spawn(program, args, { stdio, env: { ...process.env, ...env } }));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    this.process = child;
    this.#closed = once(child, 'close');
  }

  /** Waits until it says something. */
  async said(what: string | RegExp): Promise<void> {
    const isThere = () => (typeof what === 'string' ? this.output.includes(what) : what.test(this.output));
    try {
      await until(`${what}`, () => isThere() || undefined);
    } catch {
      throw new Error(`waited in vain for ${what} in:\n${this.output}`);
    }
  }

  /** Waits for its end. */
  async ended(): Promise<{
    readonly exitCode: number | null;
    readonly stdout: string;
    readonly output: string;
  }> {
    await this.#closed;
    const { stdout, output } = this;
    return { exitCode: this.process.exitCode, stdout, output };
  }

  /** Ends it with a signal, and waits for its end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.process.kill(signal);
    return (await this.ended()).exitCode;
  }

  [Symbol.dispose](): void {
    this.process.kill('SIGKILL');
  }
}

/** A pod with an interface `eth0`, and more if wanted, on the lab's link. */
export class DhcpPod extends TestNetns {
  readonly id: string;

  constructor(id: string, node: TestNetns, interfaces: readonly string[], port: string) {
    super();
    this.id = id;
    for (const [index, name] of interfaces.entries()) {
      const end = `${port}.${index}`;
      const netns = `/proc/${process.pid}/fd/${this.handle.number}`;
      node.run('ip', 'link', 'add', end, 'type', 'veth', 'peer', 'name', name, 'netns', netns);
      node.run('ip', 'link', 'set', end, 'master', BRIDGE, 'up');
    }
  }

  /** Does with a result what a main plugin would do. */
  configure(result: Result, ifName = 'eth0'): void {
    for (const { address } of result.ips ?? []) this.run('ip', 'address', 'add', address, 'dev', ifName);
  }

  /** Whether an interface is up. */
  isUp(ifName = 'eth0'): boolean {
    return this.run('ip', '-o', 'link', 'show', ifName).includes('UP');
  }
}

/** What the plugin is asked. */
export interface DhcpCall {
  readonly pod: DhcpPod;
  readonly ifName?: string;
  readonly network?: string;
  readonly ipam?: Readonly<Record<string, unknown>>;
  readonly args?: string;
  readonly prevResult?: Result;
  /** CNI_NETNS, when it is not the pod's. */
  readonly netns?: string;
  /** Default 1.1.0. */
  readonly cniVersion?: string;
  /** Another plugin's binary. */
  readonly plugin?: string;
}

/** See the file's comment. */
export class DhcpLab implements Disposable {
  readonly node = new Node();
  readonly plugin: string;
  readonly socket: string;
  readonly stateDir: string;
  readonly #disposables = new DisposableStack();
  readonly #pods: DhcpPod[] = [];

  constructor() {
    const { node } = this;
    const directory = join(node.directory, 'bin');
    mkdirSync(directory);
    this.plugin = join(directory, 'dhcp');
    symlinkSync(resolve(buildStandalone(), 'heddle-cni'), this.plugin);
    this.socket = join(node.directory, 'dhcp.sock');
    this.stateDir = join(node.directory, 'leases');
    node.run('ip', 'link', 'add', BRIDGE, 'type', 'bridge');
    node.run('ip', 'link', 'set', BRIDGE, 'up');
    this.#disposables.use(node);
  }

  /** A pod. */
  pod(id: string, interfaces: readonly string[] = ['eth0']): DhcpPod {
    const pod = this.#disposables.use(new DhcpPod(id, this.node, interfaces, `hdp${this.#pods.length}`));
    this.#pods.push(pod);
    return pod;
  }

  /** All pods so far, servers included. */
  get pods(): readonly DhcpPod[] {
    return this.#pods;
  }

  /** Starts a program in a host of its own on the link; the host has this address on `eth0`. */
  server(address: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    const host = this.pod(`server-${address}`);
    host.run('ip', 'link', 'set', 'lo', 'up');
    host.run('ip', 'address', 'add', address, 'dev', 'eth0');
    host.run('ip', 'link', 'set', 'eth0', 'up');
    return this.#disposables.use(new Running(host.handle, program, args, env));
  }

  /** dnsmasq, which gives out 192.168.1.5 up to `.last` unless told otherwise. */
  dnsmasq(
    address = '192.168.1.1/24',
    more: readonly string[] = ['--dhcp-range=192.168.1.5,192.168.1.99,2m'],
  ): Running {
    return this.server(address, 'dnsmasq', [
      ...['--no-daemon', '--conf-file=/dev/null', '--port=0', '--pid-file=', '--no-ping', '--log-dhcp'],
      ...['--interface=eth0', '--bind-interfaces', '--dhcp-authoritative'],
      ...[`--dhcp-leasefile=${this.file(`dnsmasq-${address.replace('/', '-')}.leases`)}`, ...more],
    ]);
  }

  /** ISC's dhcpd with this configuration. */
  dhcpd(address: string, config: string): Running {
    const leases = this.file('dhcpd.leases', '');
    return this.server(address, 'dhcpd', [
      ...['-4', '-f', '-d', '-cf', this.file('dhcpd.conf', config), '-lf', leases, '--no-pid', 'eth0'],
    ]);
  }

  /** Kea with this configuration of its subnets. */
  kea(address: string, dhcp4: object): Running {
    const config = {
      'interfaces-config': { interfaces: ['eth0'], 'dhcp-socket-type': 'raw' },
      'lease-database': { type: 'memfile', persist: false },
      ...dhcp4,
    };
    const { directory } = this.node;
    return this.server(
      address,
      'kea-dhcp4',
      ['-c', this.file('kea.json', JSON.stringify({ Dhcp4: config }))],
      {
        KEA_PIDFILE_DIR: directory,
        KEA_LOCKFILE_DIR: directory,
      },
    );
  }

  /** Starts the daemon, and waits until it listens. */
  async daemon(...flags: readonly string[]): Promise<Running> {
    const where = ['-socketpath', this.socket, '-statedir', this.stateDir];
    const daemon = new Running(this.node.handle, this.plugin, ['daemon', ...where, ...flags]);
    this.#disposables.use(daemon);
    await this.listening();
    return daemon;
  }

  /** Waits until a daemon answers. */
  async listening(): Promise<void> {
    await until('the daemon', async () => {
      await this.run('STATUS', { pod: UNNAMED });
      return true;
    });
  }

  /** ADD. @throws {PluginError} what the plugin answered */
  async add(call: DhcpCall): Promise<Result> {
    return parseResult(JSON.parse(await this.run('ADD', call)), { version: '1.1.0' });
  }

  /** Another verb. @throws {PluginError} what the plugin answered */
  async run(command: string, call: DhcpCall, extra: object = {}): Promise<string> {
    const plugin = this.start(command, call, extra);
    const { exitCode, stdout, output } = await plugin.ended();
    if (exitCode === 0) return stdout;
    if (stdout === '') throw new Error(`dhcp: ${output}`);
    throw PluginError.fromJson('dhcp', JSON.parse(stdout));
  }

  /** A verb that is not waited for. */
  start(command: string, call: DhcpCall, extra: object = {}): Running {
    const {
      pod,
      ifName = 'eth0',
      network = 'net1',
      ipam = {},
      args = '',
      prevResult,
      cniVersion = '1.1.0',
    } = call;
    const config = {
      ...{ cniVersion, name: network, type: 'main', prevResult },
      ipam: { type: 'dhcp', daemonSocketPath: this.socket, ...ipam },
      ...extra,
    };
    const isAboutOne = command === 'ADD' || command === 'DEL' || command === 'CHECK';
    const env = {
      CNI_COMMAND: command,
      CNI_PATH: '/nowhere',
      ...(isAboutOne && {
        CNI_CONTAINERID: pod.id,
        CNI_NETNS: call.netns ?? pod.path,
        CNI_IFNAME: ifName,
        CNI_ARGS: args,
      }),
    };
    return new Running(this.node.handle, call.plugin ?? this.plugin, [], env, JSON.stringify(config));
  }

  /** A file of the lab's, with this content if there is any. */
  file(name: string, content?: string): string {
    const path = join(this.node.directory, name);
    if (content !== undefined) writeFileSync(path, content);
    return path;
  }

  [Symbol.dispose](): void {
    this.#disposables.dispose();
  }
}

const BRIDGE = 'hdbr';
/** For verbs that are about no pod. */
const UNNAMED = { id: '', path: '' } as DhcpPod;
