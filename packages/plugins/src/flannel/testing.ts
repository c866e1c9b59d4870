/** A node of a Flannel cluster, for tests: what its daemon would write, and the plugin on it. */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from '@heddle/cni/plugin';
import { makeDirectory } from '@heddle/sys';
import { bridge } from '../bridge/index.ts';
import { hostLocal } from '../host-local/index.ts';
import { type LabConfig, PluginLab } from '../testing/index.ts';
import { flannelAt } from './index.ts';

/** The lines of the daemon's file for one family each. */
export const NODE = {
  4: 'FLANNEL_NETWORK=10.1.0.0/16\nFLANNEL_SUBNET=10.1.17.1/24\n',
  6: 'FLANNEL_IPV6_NETWORK=fd00:1::/48\nFLANNEL_IPV6_SUBNET=fd00:1:0:17::1/64\n',
} as const;

/**
 * See the file's comment.
 *
 * @example
 * using node = new FlannelNode();
 * node.tell(NODE[4]);
 * const result = await node.lab.add({ config: node.config(), container: node.lab.container() });
 */
export class FlannelNode implements Disposable {
  readonly lab: PluginLab;
  readonly #root: string;
  readonly #subnetFile: string;
  readonly #dataDir: string;

  /** @param others plugins besides bridge and host-local */
  constructor(others: readonly Plugin[] = []) {
    this.lab = new PluginLab([
      bridge,
      hostLocal,
      ...others,
      flannelAt({
        // Nothing is made before it is known where: the configuration names both.
        subnetFile: '/nowhere/subnet.env',
        dataDir: '/nowhere/flannel',
      }),
    ]);
    this.#root = this.lab.directory;
    this.#subnetFile = join(this.#root, 'subnet.env');
    this.#dataDir = join(this.#root, 'flannel');
  }

  /** Writes the daemon's file. @param more lines that come after; by default the daemon masquerades */
  tell(subnets: string, more = 'FLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n'): void {
    writeFileSync(this.#subnetFile, subnets + more);
  }

  /** Removes the daemon's file, as a restart of the node does. */
  forget(): void {
    rmSync(this.#subnetFile, { force: true });
  }

  /** The network's configuration. */
  config(more: LabConfig = {}): LabConfig {
    return {
      ...{ type: 'flannel', subnetFile: this.#subnetFile, dataDir: this.#dataDir },
      ipam: { dataDir: join(this.#root, 'networks') },
      ...more,
    };
  }

  /** What is written down for delegates, by container. */
  saved(): readonly string[] {
    return existsSync(this.#dataDir) ? readdirSync(this.#dataDir).sort() : [];
  }

  /** What is written down for one. */
  read(containerID: string): Record<string, unknown> {
    return JSON.parse(readFileSync(join(this.#dataDir, containerID), 'utf8')) as Record<string, unknown>;
  }

  /** Writes something down as somebody else would. */
  plant(containerID: string, text: string): void {
    makeDirectory(this.#dataDir);
    writeFileSync(join(this.#dataDir, containerID), text);
  }

  /** Removes what is written down. */
  lose(containerID: string): void {
    rmSync(join(this.#dataDir, containerID));
  }

  /** The addresses that are reserved in a network. */
  reserved(network = 'net1'): readonly string[] {
    const directory = join(this.#root, 'networks', network);
    if (!existsSync(directory)) return [];
    return readdirSync(directory).filter((name) => name !== 'lock' && !name.startsWith('last_'));
  }

  [Symbol.dispose](): void {
    this.lab[Symbol.dispose]();
  }
}
