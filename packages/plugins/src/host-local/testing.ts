/** A network of host-local in a directory of its own, for tests. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Addr } from '@heddle/netaddr';
import { makeDirectory } from '@heddle/sys';
import { type Callee, inProcess, type PluginCall } from '../addressing/testing.ts';
import { hostLocalAt } from './index.ts';

/** What a successful call gave. */
export interface Success {
  /** The addresses of the result, with prefix length. */
  readonly addresses: readonly string[];
  readonly result: Readonly<Record<string, unknown>>;
  readonly stderr: string;
}

/** What a refused call gave. */
export interface Refusal {
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

/**
 * See the file's comment.
 *
 * @example
 * using lab = new HostLocalLab();
 * const { addresses } = await lab.ok({ command: 'ADD', config: lab.config({ subnet: '10.1.2.0/24' }) });
 */
export class HostLocalLab implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'heddle-host-local-'));
  readonly dataDir = join(this.root, 'networks');
  readonly cacheDir = join(this.root, 'cache');
  readonly directory = join(this.dataDir, 'mynet');
  readonly #call: Callee;

  /** @param callee what is tested, by default this package's plugin */
  constructor(callee?: Callee) {
    this.#call = callee ?? inProcess(hostLocalAt({ dataDir: '/nowhere', cacheDir: this.cacheDir }));
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true });
  }

  config(ipam: object, rest: object = {}, cniVersion = '1.1.0'): object {
    const { dataDir } = this;
    return {
      cniVersion,
      name: 'mynet',
      type: 'ipvlan',
      ipam: { type: 'host-local', dataDir, ...ipam },
      ...rest,
    };
  }

  async ok(request: PluginCall): Promise<Success> {
    const { exitCode, stdout, json, stderr } = await this.#call(request);
    assert.equal(exitCode, 0, stdout);
    const result = (json ?? {}) as Success['result'];
    const ips = (result['ips'] ?? []) as readonly { address: string }[];
    return { addresses: ips.map(({ address }) => address), result, stderr };
  }

  async refused(request: PluginCall): Promise<Refusal> {
    const { exitCode, json, stdout } = await this.#call(request);
    assert.equal(exitCode, 1, stdout);
    return json as Refusal;
  }

  /** The addresses that are held, in no particular order but always the same. */
  reservations(): readonly string[] {
    return this.files().filter((name) => Addr.tryParse(name) !== undefined);
  }

  get exists(): boolean {
    return existsSync(this.directory);
  }

  files(): readonly string[] {
    return readdirSync(this.directory).sort();
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), 'utf8');
  }

  plant(name: string, content: string): void {
    makeDirectory(this.directory);
    writeFileSync(join(this.directory, name), content);
  }

  remove(name: string): void {
    rmSync(join(this.directory, name));
  }
}
