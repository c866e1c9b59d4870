/**
 * A machine for plugin tests: a private namespace that plays the host, containers, and plugins that run in
 * this process through the same door as in a real one. The machine's own network is never touched.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KernelSession, openSession } from '@heddle/netlink';
import { TestNetns } from '@heddle/netlink/testing';
import { type NetnsHandle, openNetns } from '@heddle/sys';
import { PluginCaller } from './plugin-caller.ts';

/** A container of a {@link PluginLab}. */
export class Container extends TestNetns {
  readonly id: string;

  constructor(id: string) {
    super();
    this.id = id;
  }
}

/**
 * See the file's comment.
 *
 * @example
 * using lab = new PluginLab([bridge, ipam.plugin]);
 * const pod = lab.container();
 * const result = await lab.add({ config: { type: 'bridge', ipam: { type: 'stub' } }, container: pod });
 */
export class PluginLab extends PluginCaller implements Disposable {
  /** The namespace that plays the host. */
  readonly host = new TestNetns();
  /** An empty directory, for data of plugins. */
  readonly directory = mkdtempSync(join(tmpdir(), 'heddle-lab-'));
  readonly #containers: Container[] = [];

  /** A fresh container; it lives as long as the lab unless it is disposed of before. */
  container(id = `c${this.#containers.length + 1}`): Container {
    const container = new Container(id);
    this.#containers.push(container);
    return container;
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

  protected override openNetns(path: string): NetnsHandle {
    return openNetns(path);
  }

  protected override openSession(netns: NetnsHandle | undefined): KernelSession {
    return openSession({ netns: netns ?? this.host.handle, mode: 'sync' });
  }
}
