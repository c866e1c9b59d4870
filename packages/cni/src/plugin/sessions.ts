/** The kernel sessions of one invocation: opened on first use, closed together. */
import type { KernelSession } from '@heddle/netlink';
import { type NetnsHandle, SysError } from '@heddle/sys';
import { CNI_CODE } from '../codes.ts';
import { CniError } from '../errors.ts';
import type { PluginHost } from './host.ts';

/** See the file's comment. */
export class Sessions implements Disposable {
  readonly #ports: PluginHost;
  readonly #path: string;
  #netns: NetnsHandle | undefined;
  #host: KernelSession | undefined;
  #container: KernelSession | undefined;

  /** @param netnsPath CNI_NETNS */
  constructor(ports: PluginHost, netnsPath: string) {
    this.#ports = ports;
    this.#path = netnsPath;
  }

  /** The plugin's own namespace. */
  get host(): KernelSession {
    this.#host ??= this.#ports.openSession();
    return this.#host;
  }

  /**
   * The container's namespace.
   *
   * @throws {CniError} code 3 when it does not exist, 8 when the path is something else
   */
  get netns(): NetnsHandle {
    try {
      this.#netns ??= this.#ports.openNetns(this.#path);
      return this.#netns;
    } catch (error) {
      if (!(error instanceof SysError)) throw error;
      const code = SysError.is(error, 'ENOENT') ? CNI_CODE.UNKNOWN_CONTAINER : CNI_CODE.INVALID_NETNS;
      throw new CniError(code, `failed to open netns ${JSON.stringify(this.#path)}: ${error.message}`, {
        cause: error,
      });
    }
  }

  /** The kernel as seen from the container. */
  get container(): KernelSession {
    this.#container ??= this.#ports.openSession(this.netns);
    return this.#container;
  }

  /**
   * The same, or `undefined` when the container's namespace is gone: CNI_NETNS is empty, names nothing, or
   * names the plain file that an unmounted namespace leaves behind.
   */
  get containerIfPresent(): KernelSession | undefined {
    return this.netnsIfPresent === undefined ? undefined : this.container;
  }

  /** The container's namespace, or `undefined` when it is gone. */
  get netnsIfPresent(): NetnsHandle | undefined {
    if (this.#path === '') return undefined;
    try {
      return this.netns;
    } catch (error) {
      if (error instanceof CniError && SysError.is(error.cause, 'ENOENT', 'EINVAL', 'ENOTDIR'))
        return undefined;
      throw error;
    }
  }

  /** The kernel as seen from a namespace of the caller's. */
  open(netns: NetnsHandle): KernelSession {
    return this.#ports.openSession(netns);
  }

  [Symbol.dispose](): void {
    // The pod's namespace first: as long as a descriptor is open in it, it cannot go away.
    this.#container?.[Symbol.dispose]();
    this.#netns?.[Symbol.dispose]();
    this.#host?.[Symbol.dispose]();
  }
}
