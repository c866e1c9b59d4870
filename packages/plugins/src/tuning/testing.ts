/** A container with an interface to tune, for tests of the tuning plugin. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Plugin, type PluginHost, type PluginOutcome, serve } from '@heddle/cni/plugin';
import { Mac } from '@heddle/netaddr';
import { type Link, openSession } from '@heddle/netlink';
import { makeDirectory, openNetns } from '@heddle/sys';
import { type Container, LabInflight, type LabRequest, PluginLab } from '../testing/index.ts';
import { readText } from './backup.ts';
import { tuningAt } from './index.ts';
import { isPromiscuous } from './link-settings.ts';

/** The hardware address of the interface before anything is done to it. */
export const ORIGINAL_MAC = '02:00:00:00:00:01';

/** See the file's comment. */
export class TuningScene implements Disposable {
  /** For all files of the plugin. */
  readonly directory = mkdtempSync(join(tmpdir(), 'heddle-tuning-'));
  readonly dataDir = join(this.directory, 'backups', 'tuning');
  readonly #plugin = tuningAt({
    dataDir: this.dataDir,
    allowlist: join(this.directory, 'allowlist.conf'),
    cacheDir: join(this.directory, 'cache'),
  });
  readonly lab: PluginLab;
  readonly container: Container;

  private constructor(others: readonly Plugin[]) {
    this.lab = new PluginLab([this.#plugin, ...others]);
    this.container = this.lab.container('dummy');
  }

  /**
   * A node with one container, whose `eth0` has its other end, `hdv0`, on the host.
   *
   * @param others plugins that can be called as well
   */
  static async create(others: readonly Plugin[] = []): Promise<TuningScene> {
    const scene = new TuningScene(others);
    const peer = { name: 'eth0', netns: scene.container.handle, mac: Mac.parse(ORIGINAL_MAC) };
    await scene.lab.host.session.links.add({ name: 'hdv0', kind: 'veth', up: true, peer });
    await scene.container.session.links.set('eth0', { up: true });
    return scene;
  }

  /** A call with this configuration. */
  request(config: object): LabRequest {
    const network = { type: 'tuning', name: 'test', cniVersion: '1.0.0', dataDir: this.dataDir };
    return { config: { ...network, ...config }, container: this.container, prevResult: this.prevResult() };
  }

  /** Calls the plugin with a text that no object could stand for. It must refuse it before it needs the kernel. */
  runText(command: string, text: string): Promise<PluginOutcome> {
    const { id, path } = this.container;
    const env = {
      CNI_COMMAND: command,
      CNI_CONTAINERID: id,
      CNI_NETNS: path,
      CNI_IFNAME: 'eth0',
      CNI_PATH: '/x',
    };
    const refuse = (): never => assert.fail('it went on');
    const host: PluginHost = {
      openNetns,
      openSession: (netns) => openSession({ netns, mode: 'sync' }),
      ...{ findPlugin: refuse, invoke: refuse, inflight: new LabInflight() },
      ...{ clock: { now: () => 0 }, random: { bytes: refuse } },
    };
    return serve(this.#plugin, { env, readStdin: () => new TextEncoder().encode(text) }, host);
  }

  /** What a main plugin would have given. */
  prevResult(cniVersion = '1.0.0') {
    const interfaces = [
      { name: 'hdv0', mac: '02:00:00:00:00:02' },
      { name: 'eth0', mac: ORIGINAL_MAC, sandbox: this.container.path },
    ];
    const version = cniVersion.startsWith('0.') ? { version: '4' } : {};
    return { cniVersion, interfaces, ips: [{ ...version, address: '10.0.0.2/24', interface: 1 }] };
  }

  /** The interface, as far as the plugin changes it. */
  async link() {
    const link: Link = await this.container.session.links.get('eth0');
    const { mac, mtu, allmulti, txQueueLength: txQLen } = link;
    return { mac: `${mac}`, promisc: isPromiscuous(link), mtu, allmulti, txQLen };
  }

  /** A kernel parameter as the container sees it. */
  sysctl(name: string): Promise<string> {
    return this.container.session.sysctl.read(name);
  }

  /** The text of the backup of an interface; `undefined` when there is none. */
  backup(ifName = 'eth0'): string | undefined {
    return readText(join(this.dataDir, `dummy_${ifName}.json`));
  }

  /** Writes a file into the scene's directory. */
  plant(name: string, text: string): string {
    const path = join(this.directory, name);
    makeDirectory(join(path, '..'));
    writeFileSync(path, text);
    return path;
  }

  [Symbol.dispose](): void {
    this.lab[Symbol.dispose]();
    rmSync(this.directory, { recursive: true });
  }
}
