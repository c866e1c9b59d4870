import type { CniArgs, JsonObject, Result, ValidAttachment } from '../index.ts';
import { type AddOptions, add } from './add.ts';
import { type CachedAttachment, ResultCache } from './cache.ts';
import { check } from './check.ts';
import { type Attachment, type CallOptions, identify, type RuntimeContext } from './context.ts';
import { type DelOptions, del } from './del.ts';
import { systemExec } from './exec.ts';
import { gc } from './gc.ts';
import { HeldLocks } from './held-locks.ts';
import { FileLocks, type RuntimeLocks } from './locks.ts';
import { chainOf, type Network, networkFromBytes } from './network.ts';
import type { Environment } from './plugin-environment.ts';
import type { PluginExec } from './plugin-exec.ts';
import { type PluginVersions, probeVersions, type UnknownVersions } from './plugin-versions.ts';
import { status } from './status.ts';
import { validateChain } from './validate.ts';

/** Where results are cached unless said otherwise: libcni's place. */
export const DEFAULT_CACHE_DIR = '/var/lib/cni';
/** Where the runtime's locks are unless said otherwise. */
export const DEFAULT_LOCK_DIR = '/run/heddle/locks';

/** What a runtime works with. */
export interface RuntimeOptions {
  /** The plugin directories, as CNI_PATH has them. */
  readonly path: readonly string[];
  /** The environment that plugins inherit. */
  readonly env: Environment;
  /** Default {@link DEFAULT_CACHE_DIR}. */
  readonly cacheDir?: string;
  /** How plugins are found and run. Default: as executables. */
  readonly exec?: PluginExec;
  /** Default: files in {@link DEFAULT_LOCK_DIR}. */
  readonly locks?: RuntimeLocks;
  /** Told what is worth knowing but no failure. */
  readonly onWarning?: (message: string) => void;
  /** Given what a plugin wrote to stderr although it succeeded. What a failed one wrote is in its error. */
  readonly onStderr?: RuntimeContext['onStderr'];
}

/** What ADD was called with. */
export interface CachedConfig {
  readonly network: Network;
  /** The configuration's own bytes. */
  readonly bytes: Uint8Array;
  readonly netns?: string;
  readonly args?: CniArgs;
  readonly capabilityArgs?: JsonObject;
}

/**
 * The runtime's side of CNI: runs the plugins of networks for containers, and remembers what it did.
 *
 * Operations on one container go one after the other, and GC of a network waits for everything else on it,
 * also between processes.
 *
 * @example
 * const runtime = new Runtime({ path: ['/opt/cni/bin'], env: process.env });
 * const { list } = loadNetwork('/etc/cni/net.d', 'podnet');
 * const pod = { containerID: 'c1', netns: '/run/netns/c1', ifName: 'eth0' };
 * const result = await runtime.add(list, pod);
 * await runtime.del(list, pod);
 */
export class Runtime {
  readonly #context: RuntimeContext;

  constructor({ path, env, cacheDir = DEFAULT_CACHE_DIR, onWarning, onStderr, ...ports }: RuntimeOptions) {
    const warn = onWarning ?? (() => undefined);
    this.#context = {
      path,
      env,
      exec: ports.exec ?? systemExec({ onWarning: warn }),
      cache: new ResultCache(cacheDir),
      locks: new HeldLocks(ports.locks ?? new FileLocks(DEFAULT_LOCK_DIR), env),
      onWarning: warn,
      onStderr: onStderr ?? (() => undefined),
    };
  }

  /**
   * Attaches a container to a network.
   *
   * @returns the last plugin's result, in the version that it gave.
   * @throws {CniError} the first plugin's that failed; for a list it begins `plugin type="x" failed (add): `.
   */
  async add(network: Network, attachment: Attachment, options?: AddOptions): Promise<Result> {
    return await add(this.#context, chainOf(network), attachment, options);
  }

  /**
   * Checks that an attachment is as ADD made it.
   *
   * @throws {CniError} the first plugin's that found a difference; `CHECK_UNSUPPORTED` before version 0.4.0.
   */
  async check(network: Network, attachment: Attachment, options?: CallOptions): Promise<void> {
    await check(this.#context, chainOf(network), attachment, options);
  }

  /**
   * Detaches a container. What is gone already counts as deleted. By default it runs the configuration that
   * ADD ran, from the cache; a network that is not there any more can be given by its name.
   *
   * @throws {CniError|ErrorList} all that went wrong; the attachment then stays in the cache for another try.
   */
  async del(network: Network | string, attachment: Attachment, options?: DelOptions): Promise<void> {
    const present = typeof network === 'string' ? network : chainOf(network);
    await del(this.#context, present, attachment, options);
  }

  /**
   * Frees what attachments left that are not alive any more. An empty `valid` means that none is alive.
   *
   * @throws {CniError|ErrorList} all that went wrong.
   */
  async gc(network: Network, valid: readonly ValidAttachment[], options?: CallOptions): Promise<void> {
    await gc(this.#context, chainOf(network), valid, options);
  }

  /**
   * Asks whether a network could attach a container now. Before version 1.1.0 nobody is asked.
   *
   * @throws {CniError} the first plugin's that is not ready, with its code (50, 51).
   */
  async status(network: Network, options?: CallOptions): Promise<void> {
    await status(this.#context, chainOf(network), options);
  }

  /**
   * Checks that every plugin is there and speaks the network's version, without touching anything.
   *
   * @returns the capabilities that the plugins declare.
   * @throws {CniError} that names every plugin that does not fit, what it speaks, and what all speak.
   */
  async validate(network: Network, options?: CallOptions): Promise<ReadonlySet<string>> {
    return await validateChain(this.#context, chainOf(network), this.#context.env, options);
  }

  /**
   * Asks a plugin which versions it speaks.
   *
   * @throws {CniError} when it is not found or answers nonsense.
   */
  async version(type: string, options?: CallOptions): Promise<PluginVersions | UnknownVersions> {
    return await probeVersions(this.#context, type, this.#context.env, options);
  }

  /**
   * The final result of an attachment's ADD, in the network's version; `undefined` when none is cached.
   *
   * @throws {CniError} when the cache entry is damaged, or cannot be converted.
   */
  cachedResult(network: Network, attachment: Pick<Attachment, 'containerID' | 'ifName'>): Result | undefined {
    const chain = chainOf(network);
    return this.#context.cache.result(identify(chain, attachment), chain.cniVersion);
  }

  /**
   * What an attachment's ADD was called with; `undefined` when none is cached.
   *
   * @throws {CniError} when the cache entry is damaged.
   */
  cachedConfig(
    network: Network | string,
    { containerID, ifName }: Pick<Attachment, 'containerID' | 'ifName'>,
  ): CachedConfig | undefined {
    const name = typeof network === 'string' ? network : chainOf(network).name;
    const entry = this.#context.cache.read({ network: name, containerID, ifName });
    if (entry === undefined) return undefined;
    const { config: bytes, netns, args, capabilityArgs } = entry;
    return {
      network: networkFromBytes(bytes),
      bytes,
      ...(netns !== undefined && { netns }),
      ...(args !== undefined && { args }),
      ...(capabilityArgs !== undefined && { capabilityArgs }),
    };
  }

  /** The attachments that the cache knows; those of one container when that is given. */
  attachments(containerID?: string): readonly CachedAttachment[] {
    return this.#context.cache.attachments(containerID);
  }
}
