/**
 * A node for the doctor: pods on a bridge, a router as its gateway, and somebody beyond the router. Everything is real:
 * namespaces, plugins as programs, packets. A test breaks one thing and has the doctor look.
 *
 *     pods ── cni0 node eth0 ── 192.0.2.1 router 198.51.100.1 ── 198.51.100.9 far
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { NetworkConfigList } from '@heddle/cni';
import { type Attachment, loadNetworkFile, type Runtime, systemExec } from '@heddle/cni/runtime';
import { RUNTIME_PATHS } from '@heddle/dataplane';
import {
  type Examination,
  type ExamineOptions,
  examine,
  type Finding,
  inOrder,
  type NodeFiles,
  type NodePorts,
  RULES,
  systemFiles,
} from '@heddle/doctor';
import { openSession } from '@heddle/netlink';
import { TestNetns } from '@heddle/plugins/testing';
import { bindNetns, unbindNetns } from '@heddle/sys';
import { Node, Pod } from '../support/node.ts';
import { installPlugins } from '../support/plugin-directory.ts';
import { until } from '../support/until.ts';
import type { DoomedAdd } from './runtime-process.ts';

/**
 * Subnets that no other test of this machine has. For the doctor looks into all namespaces: an address that is in use in
 * any of them is not leaked.
 */
export const OWN = {
  v4: `10.${100 + ((process.pid >> 8) % 100)}.${process.pid % 256}`,
  v6: `fd46:${process.pid.toString(16).slice(-4)}:`,
} as const;

/** A pod whose namespace is mounted somewhere. */
export class LabPod extends Pod {
  readonly #path: string;
  #isGone = false;

  constructor(id: string, path: string, more: Partial<Attachment>) {
    super(id, { netns: path, ...more });
    this.#path = path;
    this.skipAddressDetection();
    bindNetns(this.handle, path);
  }

  /** It dies, and nobody tells the runtime. */
  kill(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    unbindNetns(this.#path);
    this[Symbol.dispose]();
  }
}

/** What tells the processes of one killed runtime, its plugins among them, from others. */
const RUN_MARK = 'HEDDLE_TEST_RUN';

function isRunning(mark: string): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`${RUN_MARK}=${mark}`);
    } catch {
      // It has ended.
      return false;
    }
  });
}

/** What cannot be staged on a machine that others use. */
export interface Staged {
  readonly pluginPath?: readonly string[];
  /** Runtimes that say where they look for plugins. */
  readonly pluginReaders?: NodePorts['places']['pluginReaders'];
  /** When files were changed. */
  readonly changed?: ReadonlyMap<string, number>;
}

/** See the file's comment. */
export class DoctorLab extends Node {
  readonly router = new TestNetns();
  readonly far = new TestNetns();
  readonly bin = join(this.directory, 'bin');
  readonly configDir = join(this.directory, 'net.d');
  readonly cacheDir = join(this.directory, 'cache');
  readonly reservationDir = join(this.directory, 'ipam');
  /** What the kernel's log says. */
  readonly kernelLog: string[] = [];
  kernelRelease = release();
  /** The user that looks. */
  uid = 0;
  /** Moves the doctor's clock. */
  later = 0;
  readonly #pods: LabPod[] = [];

  constructor() {
    super();
    for (const each of [this, this.router, this.far]) each.skipAddressDetection();
    for (const each of [this.router, this.far]) each.run('ip link set lo up');
    this.join(this.router, ['eth0', 'down0']);
    this.router.join(this.far, ['up0', 'eth0']);
    for (const [where, link, v4, v6] of [
      [this, 'eth0', '192.0.2.10/24', '2001:db8:1::10/64'],
      [this.router, 'down0', '192.0.2.1/24', '2001:db8:1::1/64'],
      [this.router, 'up0', '198.51.100.1/24', '2001:db8:2::1/64'],
      [this.far, 'eth0', '198.51.100.9/24', '2001:db8:2::9/64'],
    ] as const) {
      where.run(`ip address add ${v4} dev ${link}`);
      where.run(`ip address add ${v6} dev ${link} nodad`);
    }
    this.router.run('sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1');
    for (const [where, v4, v6] of [
      [this, '192.0.2.1', '2001:db8:1::1'],
      [this.far, '198.51.100.1', '2001:db8:2::1'],
    ] as const) {
      where.run(`ip route add default via ${v4}`);
      where.run(`ip route add default via ${v6}`);
    }
    // A fresh namespace has it on, where the kernel knows it at all.
    this.run('sh', '-c', 'sysctl -qw net.bridge.bridge-nf-call-iptables=0 2> /dev/null || true');
    installPlugins(this.bin);
    mkdirSync(this.cacheDir, { recursive: true });
    mkdirSync(this.reservationDir, { recursive: true });
  }

  /** The network `podnet`: a dual-stack bridge, masqueraded, with published ports. */
  podnet(
    more: {
      readonly bridge?: object;
      readonly ipam?: object;
      readonly top?: object;
      /** A further plugin, at the end of the chain. */
      readonly last?: object;
    } = {},
  ): NetworkConfigList {
    const ipam = {
      type: 'host-local',
      dataDir: this.reservationDir,
      ranges: [[{ subnet: '10.45.0.0/24' }], [{ subnet: 'fd45::/64' }]],
      routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
      ...more.ipam,
    };
    const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: true, ...more.bridge, ipam };
    const plugins = [
      bridge,
      { type: 'portmap', capabilities: { portMappings: true } },
      ...(more.last === undefined ? [] : [more.last]),
    ];
    return this.write('10-podnet.conflist', { cniVersion: '1.0.0', name: 'podnet', ...more.top, plugins });
  }

  /** Writes a network's file, and loads it. */
  write(name: string, content: object | string): NetworkConfigList {
    const path = join(this.configDir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2));
    return typeof content === 'string' ? ({} as NetworkConfigList) : loadNetworkFile(path);
  }

  /** A plugin that is a shell script. */
  stub(name: string, script: string, mode = 0o755): string {
    const path = join(this.bin, name);
    // What is there may be a link to the program of all plugins.
    rmSync(path, { force: true });
    writeFileSync(path, script);
    chmodSync(path, mode);
    return path;
  }

  get cni(): Runtime {
    return this.runtime([this.bin], { cacheDir: this.cacheDir });
  }

  /** Attaches a fresh pod. */
  async attach(list: NetworkConfigList, id: string, more: Partial<Attachment> = {}): Promise<LabPod> {
    const pod = this.podOf(id, more);
    await this.cni.add(list, pod.attachment);
    return pod;
  }

  /** A fresh pod, whose namespace has a path as a runtime gives it one. */
  podOf(id: string, more: Partial<Attachment> = {}): LabPod {
    const directory = join(this.directory, 'netns');
    mkdirSync(directory, { recursive: true });
    const pod = new LabPod(id, join(directory, id), more);
    this.#pods.push(pod);
    return pod;
  }

  /**
   * A runtime in a process of its own attaches a pod to `podnet`, and is killed at that moment.
   *
   * @returns waits until the plugins that it had started have ended, too
   */
  async dieAttaching(pod: LabPod, moment: DoomedAdd['moment']): Promise<() => Promise<void>> {
    const file = join(this.configDir, '10-podnet.conflist');
    const { cacheDir } = this;
    const request: DoomedAdd = { file, path: [this.bin], cacheDir, attachment: pod.attachment, moment };
    const program = fileURLToPath(new URL('./runtime-process.ts', import.meta.url));
    const mark = `${pod.attachment.containerID}${this.directory}`;
    const args = ['--conditions=source', '--no-warnings', program, JSON.stringify(request)];
    const env = { ...process.env, [RUN_MARK]: mark };
    const runtime = this.inside(() =>
      spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    const ended = once(runtime, 'close');
    const complaint = text(runtime.stderr);
    await Promise.race([once(runtime.stdout, 'data'), ended]);
    // It may have failed before, as any ADD may when no address is left.
    if (runtime.exitCode === null) runtime.kill('SIGKILL');
    await ended;
    if (runtime.exitCode !== null) assert.match(await complaint, /no IP addresses available/);
    return async () =>
      void (await until('its plugins to end', () => (isRunning(mark) ? undefined : true), 60));
  }

  get ports(): NodePorts {
    const exec = systemExec();
    return {
      places: {
        configDir: this.configDir,
        pluginPath: [this.bin],
        cacheDir: this.cacheDir,
        reservationDir: this.reservationDir,
        // Where the plugins' program keeps them.
        markDir: RUNTIME_PATHS.adding,
      },
      files: this.files,
      machine: {
        ...{ kernelRelease: this.kernelRelease, uid: this.uid },
        kernelLog: () => this.kernelLog.map((text) => ({ at: Date.now(), text })),
        startTimes: () => [],
      },
      exec: { find: exec.find, run: (run) => this.bornInside(() => exec.run(run)) },
      env: process.env,
      now: () => Date.now() + this.later,
      sleep: (milliseconds) => sleep(milliseconds),
      randomBytes,
    };
  }

  /** Files of this machine; of other CNIs' those below this node's own directory. */
  get files(): NodeFiles {
    const isOwn = (path: string) =>
      path.startsWith(this.directory) || path.startsWith('/proc') || /^\/(usr\/)?(bin|lib)/.test(path);
    const at = (path: string) => (isOwn(path) ? path : join(this.directory, 'root', path));
    return {
      facts: (path) => systemFiles.facts(at(path)),
      read: (path) => systemFiles.read(at(path)),
      head: (path, length) => systemFiles.head(at(path), length),
      real: (path) => systemFiles.real(at(path)),
      list: (path) => systemFiles.list(at(path)),
      refusal: (path, wish) => systemFiles.refusal(at(path), wish),
    };
  }

  /** Has the doctor look. */
  async examine(options: ExamineOptions = {}, staged: Staged = {}): Promise<Examination> {
    using host = openSession({ netns: this.handle });
    const { ports } = this;
    const { pluginPath = ports.places.pluginPath, pluginReaders = [], changed } = staged;
    const files: NodeFiles = {
      ...ports.files,
      facts(path) {
        const facts = ports.files.facts(path);
        const changedAt = changed?.get(path);
        return facts && changedAt !== undefined ? { ...facts, changedAt } : facts;
      },
    };
    return await examine(
      { ...ports, files, places: { ...ports.places, pluginPath, pluginReaders } },
      host,
      options,
    );
  }

  /** What the doctor finds, the likeliest cause first. */
  async findings(options: ExamineOptions = {}, staged: Staged = {}): Promise<readonly Finding[]> {
    return inOrder((await this.examine(options, staged)).findings, RULES);
  }

  /** Puts a file where another CNI would have it. */
  place(path: string, content: string): void {
    const full = join(this.directory, 'root', path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
  }

  /** Has a pod die without DEL, and waits until the kernel has taken its links away. */
  async bury(pod: LabPod): Promise<void> {
    const index = /eth0@if(\d+)/.exec(pod.run('ip -o link'))?.[1];
    pod.kill();
    await this.until(() => !new RegExp(`^${index}: `, 'm').test(this.run('ip -o link')));
  }

  /** Waits until something is so. */
  async until(isSo: () => boolean): Promise<void> {
    await until('the node to be so', () => (isSo() ? true : undefined));
  }

  bornInside<T>(start: () => Promise<T>): Promise<T> {
    let started: Promise<T> | undefined;
    this.inside(() => {
      started = start();
    });
    if (started === undefined) throw new Error('nothing was started');
    return started;
  }

  override [Symbol.dispose](): void {
    for (const pod of this.#pods) pod.kill();
    this.far[Symbol.dispose]();
    this.router[Symbol.dispose]();
    super[Symbol.dispose]();
  }
}
