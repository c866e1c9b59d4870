/** A container with dummy interfaces, for tests of the vrf plugin. */
import { Prefix } from '@heddle/netaddr';
import { type Container, type LabRequest, PluginLab } from '../testing/index.ts';
import { vrf } from './index.ts';

/** See the file's comment. */
export class VrfScene implements Disposable {
  readonly lab = new PluginLab([vrf]);
  readonly container: Container = this.lab.container();

  /** A container with these interfaces, up, each with its addresses. */
  static async create(links: Readonly<Record<string, readonly string[]>>): Promise<VrfScene> {
    const scene = new VrfScene();
    for (const [name, addresses] of Object.entries(links)) await scene.addLink(name, addresses);
    return scene;
  }

  /** Adds an interface, up. */
  async addLink(name: string, addresses: readonly string[]): Promise<void> {
    await this.container.session.links.add({ name, kind: 'dummy', up: true });
    await this.#addAddresses(name, addresses);
  }

  /** Adds an interface with another end, both up: the kernel probes its addresses, unlike those of a dummy. */
  async addPair(name: string, addresses: readonly string[]): Promise<void> {
    const { links } = this.container.session;
    await links.add({ name, kind: 'veth', up: true, peer: { name: 'peer0' } });
    await links.set('peer0', { up: true });
    await this.#addAddresses(name, addresses);
  }

  /** A call about an interface whose main plugin gave these routes. */
  request(ifName: string, config: object = {}, routes: readonly object[] = []): LabRequest {
    const interfaces = [{ name: ifName, sandbox: this.container.path }];
    return {
      config: { type: 'vrf', cniVersion: '1.0.0', vrfname: 'vrf0', ...config },
      container: this.container,
      ifName,
      prevResult: { cniVersion: '1.0.0', interfaces, ...(routes.length > 0 && { routes }) },
    };
  }

  /** Runs `ip` in the container. */
  ip(...args: readonly string[]): string {
    return this.container.run('ip', ...args);
  }

  /** The VRFs by name: their tables and ports. */
  async vrfs(): Promise<Readonly<Record<string, { table: number; up: boolean; ports: readonly string[] }>>> {
    const links = await this.container.session.links.list();
    return Object.fromEntries(
      links.flatMap(({ name, index, up, data }) => {
        if (data?.kind !== 'vrf') return [];
        const ports = links.filter(({ master }) => master === index).map((port) => port.name);
        return [[name, { table: data.table ?? 0, up, ports }]];
      }),
    );
  }

  /** The routes to elsewhere of a table, but for link-local networks and the kernel's defaults of VRFs. */
  async routes(table: number): Promise<readonly string[]> {
    const { session } = this.container;
    const names = new Map((await session.links.list()).map(({ index, name }) => [index, name]));
    return (await session.routes.list({ table }))
      .filter(({ type, dst }) => type === 'unicast' && !dst.addr.isLinkLocal)
      .map(({ dst, gateway, link = 0 }) => `${dst}${gateway ? ` via ${gateway}` : ''} dev ${names.get(link)}`)
      .sort();
  }

  /** The addresses of an interface beyond the link. */
  async addresses(link: string): Promise<readonly string[]> {
    const addresses = await this.container.session.addresses.list({ link });
    return addresses.filter(({ scope }) => scope === 0).map(({ prefix }) => `${prefix}`);
  }

  async #addAddresses(link: string, addresses: readonly string[]): Promise<void> {
    for (const address of addresses) {
      const prefix = Prefix.parse(address);
      const noDad = prefix.family === 6;
      await this.container.session.addresses.add({ link, prefix, broadcast: 'auto', noDad });
    }
  }

  [Symbol.dispose](): void {
    this.lab[Symbol.dispose]();
  }
}
