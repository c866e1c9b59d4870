/** Calls plugins that run in this process, through the same door as in a real one. */
import { randomBytes } from 'node:crypto';
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
import type { KernelSession } from '@heddle/netlink';
import type { NetnsHandle } from '@heddle/sys';

/** A configuration as it goes to stdin; name and version are filled in when they are missing. */
export type LabConfig = Readonly<Record<string, unknown>>;

/** One call of a plugin. */
export interface LabCall {
  readonly command: 'ADD' | 'DEL' | 'CHECK' | 'GC' | 'STATUS' | 'VERSION';
  readonly config: LabConfig;
  readonly container?: { readonly id: string; readonly path?: string };
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

/** See the file's comment; where the namespaces come from, a lab says. */
export abstract class PluginCaller {
  readonly inflight = new LabInflight();
  readonly #plugins: ReadonlyMap<string, Plugin>;

  /** @param plugins those that can be called, delegates included */
  constructor(plugins: readonly Plugin[]) {
    this.#plugins = new Map(plugins.map((plugin) => [plugin.type, plugin]));
  }

  /** The namespace at a path. @throws {SysError} ENOENT when there is none */
  protected abstract openNetns(path: string): NetnsHandle;

  /** The kernel as seen from a namespace, or from that which plays the host. */
  protected abstract openSession(netns: NetnsHandle | undefined): KernelSession;

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

  async #succeed(call: LabCall): Promise<string> {
    const { exitCode, stdout } = await this.run(call);
    if (exitCode === 0) return stdout;
    throw PluginError.fromJson(String(call.config['type']), JSON.parse(stdout));
  }

  #pluginHost(wrap: (session: KernelSession) => KernelSession): PluginHost {
    return {
      openNetns: (path) => this.openNetns(path),
      openSession: (netns) => wrap(this.openSession(netns)),
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

  /** Nothing to do: a killed ADD would have taken these marks with it. */
  forget(): void {}

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
