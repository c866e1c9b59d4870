/** A container with two interfaces, for tests of the sbr plugin. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Container, type LabRequest, PluginLab } from '../testing/index.ts';
import { sbr } from './index.ts';

/** An address that the result has, as `{ address, gateway }`. */
export interface TestIp {
  readonly address: string;
  readonly gateway?: string;
}

/** The first example of the reference's tests. */
export const NET1: TestIp = { address: '192.168.1.209/24', gateway: '192.168.1.1' };

/** See the file's comment. `eth0` has the default route, `net1` is what the tests are about. */
export class SbrScene implements Disposable {
  readonly lab = new PluginLab([sbr]);
  readonly container: Container = this.lab.container();
  #ips: readonly TestIp[] = [];

  /** @param ips the addresses of `net1`, which its result has too */
  static async create(ips: readonly TestIp[] = [NET1]): Promise<SbrScene> {
    const scene = new SbrScene();
    // Nobody else is on these links, so there is nothing to wait for.
    for (const each of ['all', 'default'])
      scene.container.run('sysctl', '-qw', `net.ipv6.conf.${each}.accept_dad=0`);
    await scene.addLink('eth0');
    await scene.addLink('net1');
    scene.#ips = ips;
    scene.ip('address', 'add', '10.88.0.2/16', 'dev', 'eth0');
    scene.ip('route', 'add', 'default', 'via', '10.88.0.1', 'dev', 'eth0');
    for (const { address } of ips) scene.ip('address', 'add', address, 'dev', 'net1', 'nodad');
    await scene.#settled();
    return scene;
  }

  /** The kernel gives links their link-local addresses, and IPv6 addresses their routes, in its own time. */
  async #settled(): Promise<void> {
    for (let waited = 0; !this.#isSettled(); waited += 20) {
      if (waited > 30_000) throw new Error(`addresses without routes: ${this.ip('-6', 'address')}`);
      await sleep(20);
    }
  }

  #isSettled(): boolean {
    const links = this.container.json('ip', '-6', '-j', 'address', 'show', 'scope', 'all') as Addressed[];
    const local = this.container.json('ip', '-6', '-j', 'route', 'show', 'table', 'local') as Shown[];
    return ['eth0', 'net1'].every((name) => {
      const addresses = links.find(({ ifname }) => ifname === name)?.addr_info ?? [];
      return (
        addresses.some(({ scope }) => scope === 'link') &&
        addresses.every((address) => local.some(({ dst, dev }) => dst === address.local && dev === name))
      );
    });
  }

  /** Gives the container another interface; its other end is on the host, named `h` and the same. */
  async addLink(name: string): Promise<void> {
    const { host } = this.lab;
    const peer = { name, netns: this.container.handle };
    await host.session.links.add({ name: `h${name}`, kind: 'veth', up: true, peer });
    await this.container.session.links.set(name, { up: true });
  }

  /** A call about `net1`. */
  request(config: object = {}): LabRequest {
    const ips = this.#ips.map((ip) => ({ ...ip, interface: 0 }));
    const interfaces = [{ name: 'net1', sandbox: this.container.path }];
    return {
      config: { type: 'sbr', cniVersion: '1.0.0', ...config },
      container: this.container,
      ifName: 'net1',
      prevResult: { cniVersion: '1.0.0', interfaces, ips },
    };
  }

  /** Runs `ip` in the container. */
  ip(...args: readonly string[]): string {
    return this.container.run('ip', ...args);
  }

  /** The rules that are not always there, in order, as `ip rule` shows them. */
  rules(): readonly string[] {
    return ['-4', '-6'].flatMap((family) =>
      this.ip(family, 'rule')
        .split('\n')
        .map((line) =>
          line
            .replace(/^\d+:\s*/, '')
            .replace(/ proto \S+/, '')
            .trim(),
        )
        .filter((line) => line !== '' && !line.startsWith('from all ')),
    );
  }

  /** The routes of a table, sorted, without who made them. */
  routes(table: string | number, link?: string): readonly string[] {
    const shown = ['-4', '-6'].flatMap(
      (family) => this.container.json('ip', family, '-j', 'route', 'show', 'table', 'all') as Shown[],
    );
    return shown
      .filter((route) => table === 'all' || (route.table ?? 'main') === `${table}`)
      .filter(({ dev }) => link === undefined || dev === link)
      .map(({ dst, gateway, dev, prefsrc, scope }) =>
        [
          dst,
          gateway && `via ${gateway}`,
          `dev ${dev}`,
          scope && `scope ${scope}`,
          prefsrc && `src ${prefsrc}`,
        ]
          .filter(Boolean)
          .join(' '),
      )
      .sort();
  }

  /** Everything that the plugin may change, as text. */
  state(): string {
    return JSON.stringify(
      [this.rules(), this.routes('all', 'net1'), this.routes('all', 'eth0')],
      undefined,
      1,
    );
  }

  [Symbol.dispose](): void {
    this.lab[Symbol.dispose]();
  }
}

interface Addressed {
  readonly ifname: string;
  readonly addr_info: readonly { readonly local: string; readonly scope: string }[];
}

interface Shown {
  readonly dst: string;
  readonly gateway?: string;
  readonly dev: string;
  readonly table?: string;
  readonly prefsrc?: string;
  readonly scope?: string;
}
