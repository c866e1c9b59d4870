/** A machine for plugin tests that is all in memory: quick, without root, and the same everywhere. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from '@heddle/cni/plugin';
import type { KernelSession } from '@heddle/netlink';
import { FakeKernel, type FakeKernelOptions } from '@heddle/netlink/testing';
import { errnoNumber, type NetnsHandle, SysError } from '@heddle/sys';
import { PluginCaller } from './plugin-caller.ts';

/** A container of a {@link FakeLab}. */
export class FakeContainer {
  readonly id: string;
  /** A path that names its namespace, as CNI_NETNS takes it; only plugins of the lab know it. */
  readonly path: string;
  /** The kernel as seen from inside. */
  readonly session: KernelSession;

  constructor(id: string, kernel: FakeKernel) {
    this.id = id;
    this.path = `${NETNS}${id}`;
    this.session = kernel.session(id);
  }
}

/**
 * See the file's comment. Its kernel answers as a real one does, but carries no traffic.
 *
 * @example
 * using lab = new FakeLab([bridge, ipam.plugin]);
 * const pod = lab.container();
 * const result = await lab.add({ config: { type: 'bridge', ipam: { type: 'stub' } }, container: pod });
 * console.log(lab.kernel.dump());
 */
export class FakeLab extends PluginCaller implements Disposable {
  readonly kernel: FakeKernel;
  /** The kernel as seen from the namespace that plays the host. */
  readonly host: KernelSession;
  /** An empty directory, for data of plugins. */
  readonly directory = mkdtempSync(join(tmpdir(), 'heddle-lab-'));
  readonly #containers = new Map<string, FakeContainer>();

  /** @param plugins those that can be called, delegates included */
  constructor(plugins: readonly Plugin[], options: FakeKernelOptions = {}) {
    super(plugins);
    this.kernel = new FakeKernel(options);
    this.host = this.kernel.session(HOST);
  }

  /** A fresh container. */
  container(id = `c${this.#containers.size + 1}`): FakeContainer {
    const container = new FakeContainer(id, this.kernel);
    this.#containers.set(container.path, container);
    return container;
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  protected override openNetns(path: string): NetnsHandle {
    const container = this.#containers.get(path);
    if (container !== undefined) return this.kernel.netns(container.id);
    throw new SysError({ syscall: 'open', errnum: errnoNumber('ENOENT') ?? 0, path });
  }

  protected override openSession(netns: NetnsHandle | undefined): KernelSession {
    const container = [...this.#containers.values()].find(({ session }) => session.netns.key === netns?.key);
    return this.kernel.session(container?.id ?? HOST);
  }
}

const HOST = 'host';
const NETNS = '/run/netns/';
