/**
 * A machine for plugin tests: a private namespace that plays the host, containers, and plugins that run in
 * this process through the same door as in a real one. The machine's own network is never touched.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CNI_CODE, CniError, CURRENT_VERSION, PluginError, parseResult, type Result } from '@heddle/cni';
import {
  type InflightPort,
  type Plugin,
  type PluginHost,
  type PluginOutcome,
  serve,
  VALID_ATTACHMENTS,
} from '@heddle/cni/plugin';
import { type KernelSession, openSession } from '@heddle/netlink';
import { TestNetns } from '@heddle/netlink/testing';
import { openNetns } from '@heddle/sys';

/** A container of a {@link PluginLab}. */
export class Container extends TestNetns {
  readonly id: string;

  constructor(id: string) {
    super();
    this.id = id;
  }
}

/** A configuration as it goes to stdin; name and version are filled in when they are missing. */
export type LabConfig = Readonly<Record<string, unknown>>;

/** One call of a plugin. */
export interface LabCall {
  readonly command: 'ADD' | 'DEL' | 'CHECK' | 'GC' | 'STATUS' | 'VERSION';
  readonly config: LabConfig;
  readonly container?: Pick<Container, 'id'> & Partial<Pick<Container, 'path'>>;
  /** Default `eth0`. */
  readonly ifName?: string;
  /** CNI_NETNS; default the container's path. */
  readonly netns?: string;
  /** CNI_ARGS */
  readonly args?: string;
  readonly prevResult?: unknown;
  /** Stands between the plugin and the kernel. */
  readonly wrap?: (session: KernelSession) => KernelSession;
}

/** Everything about a {@link LabCall} but its command. */
export type LabRequest = Omit<LabCall, 'command'>;

/**
 * See the file's comment.
 *
 * @example
 * using lab = new PluginLab([bridge, ipam.plugin]);
 * const pod = lab.container();
 * const result = await lab.add({ config: { type: 'bridge', ipam: { type: 'stub' } }, container: pod });
 */
export class PluginLab implements Disposable {
  /** The namespace that plays the host. */
  readonly host = new TestNetns();
  /** An empty directory, for data of plugins. */
  readonly directory = mkdtempSync(join(tmpdir(), 'heddle-lab-'));
  readonly inflight = new LabInflight();
  readonly #plugins: ReadonlyMap<string, Plugin>;
  readonly #containers: Container[] = [];

  /** @param plugins those that can be called, delegates included */
  constructor(plugins: readonly Plugin[]) {
    this.#plugins = new Map(plugins.map((plugin) => [plugin.type, plugin]));
  }

  /** A fresh container; it lives as long as the lab unless it is disposed of before. */
  container(id = `c${this.#containers.length + 1}`): Container {
    const container = new Container(id);
    this.#containers.push(container);
    return container;
  }

  /** Calls the plugin that the configuration's `type` names. */
  run(call: LabCall): Promise<PluginOutcome> {
    const { config } = call;
    const plugin = this.#plugins.get(String(config['type']));
    if (plugin === undefined) throw new Error(`the lab has no plugin ${config['type']}`);
    const { env, stdin } = invocationOf(call, LAB_PATH);
    const host = this.#pluginHost(call.wrap ?? ((session) => session));
    return serve(plugin, { env, readStdin: () => new TextEncoder().encode(stdin) }, host);
  }

  /** The surroundings in which {@link run} serves plugins, for tests that write stdin themselves. */
  get surroundings(): PluginHost {
    return this.#pluginHost((session) => session);
  }

  /** ADD. @throws {PluginError} what the plugin answered */
  async add(request: LabRequest): Promise<Result> {
    const json: unknown = JSON.parse(await this.#succeed({ ...request, command: 'ADD' }));
    return parseResult(json, { version: String(request.config['cniVersion'] ?? CURRENT_VERSION) });
  }

  /** DEL. @throws {PluginError} what the plugin answered */
  async del(request: LabRequest): Promise<void> {
    await this.#succeed({ ...request, command: 'DEL' });
  }

  /** CHECK. @throws {PluginError} what the plugin answered */
  async check(request: LabRequest): Promise<void> {
    await this.#succeed({ ...request, command: 'CHECK' });
  }

  /** GC. @throws {PluginError} what the plugin answered */
  async gc(config: LabConfig, valid: readonly { containerID: string; ifname: string }[]): Promise<void> {
    await this.#succeed({ command: 'GC', config: { ...config, [VALID_ATTACHMENTS]: valid } });
  }

  /** STATUS. @throws {PluginError} what the plugin answered */
  async status(config: LabConfig): Promise<void> {
    await this.#succeed({ command: 'STATUS', config });
  }

  /** What the host's namespace holds, as text that is equal exactly when nothing was added, changed or left. */
  hostState(): string {
    const { host } = this;
    // What comes and goes with carriers, and what the kernel is still busy with, is no change.
    const settled = (text: string) =>
      text
        .replace(/(NO-CARRIER|LOWER_UP),|,(NO-CARRIER|LOWER_UP)/g, '')
        .replace(/ (state|qdisc) \S+| (tentative|dadfailed)\b| linkdown/g, '');
    const programs = [
      ['ip', '-o', 'link'],
      ['ip', '-o', 'address'],
      ['ip', 'route', 'show', 'table', 'all', 'type', 'unicast'],
      ['nft', 'list', 'ruleset'],
    ] as const;
    return programs.map(([program, ...args]) => settled(host.run(program, ...args))).join('\n');
  }

  [Symbol.dispose](): void {
    for (const container of this.#containers) container[Symbol.dispose]();
    this.host[Symbol.dispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #succeed(call: LabCall): Promise<string> {
    const { exitCode, stdout } = await this.run(call);
    if (exitCode === 0) return stdout;
    throw PluginError.fromJson(String(call.config['type']), JSON.parse(stdout));
  }

  #pluginHost(wrap: (session: KernelSession) => KernelSession): PluginHost {
    return {
      openNetns,
      openSession: (netns) => wrap(openSession({ netns: netns ?? this.host.handle, mode: 'sync' })),
      findPlugin: (type) => {
        if (this.#plugins.has(type)) return join(LAB_PATH, type);
        throw new CniError(CNI_CODE.NOT_FOUND, `failed to find plugin "${type}" in path [${LAB_PATH}]`);
      },
      invoke: async ({ type }) => {
        throw new Error(`the lab has no plugin ${type}`);
      },
      inProcess: (type) => this.#plugins.get(type),
      inflight: this.inflight,
      clock: { now: () => Date.now() },
      random: { bytes: (count) => new Uint8Array(randomBytes(count)) },
    };
  }
}

/** The environment and the input of a call. */
export function invocationOf(
  call: LabCall,
  path: string,
): { readonly env: Readonly<Record<string, string>>; readonly stdin: string } {
  const { command, config, container, ifName = 'eth0', args = '', prevResult } = call;
  const isAboutOne = command === 'ADD' || command === 'DEL' || command === 'CHECK';
  return {
    stdin: JSON.stringify({ cniVersion: CURRENT_VERSION, name: 'net1', ...config, prevResult }),
    env: {
      CNI_COMMAND: command,
      CNI_PATH: path,
      ...(isAboutOne && {
        CNI_CONTAINERID: container?.id ?? '',
        CNI_NETNS: call.netns ?? container?.path ?? '',
        CNI_IFNAME: ifName,
        CNI_ARGS: args,
      }),
    },
  };
}

/** Marks of running ADDs, in memory. */
export class LabInflight implements InflightPort {
  readonly #keys = new Map<string, number>();

  begin(key: string): Disposable {
    this.#count(key, 1);
    return { [Symbol.dispose]: () => this.#count(key, -1) };
  }

  list(): ReadonlySet<string> {
    return new Set(this.#keys.keys());
  }

  #count(key: string, by: number): void {
    const count = (this.#keys.get(key) ?? 0) + by;
    if (count > 0) this.#keys.set(key, count);
    else this.#keys.delete(key);
  }
}

const LAB_PATH = '/lab';
