/** A network with a DHCP server that containers are part of before the plugin under test is called. */
import { Addr, Prefix } from '@heddle/netaddr';
import { DhcpServer } from './dhcp-server.ts';
import { Namespace } from './namespace.ts';

/** See the file's comment. It is in a namespace of its own: no plugin sees more of it than its link in the container. */
export class Lan implements Disposable {
  readonly #namespace: Namespace;
  readonly #server: DhcpServer;

  private constructor(namespace: Namespace) {
    this.#namespace = namespace;
    this.#server = new DhcpServer({ netns: namespace.handle, link: BRIDGE, address: ROUTER });
  }

  /** @param name of the namespace */
  static async make(name: string): Promise<Lan> {
    const namespace = new Namespace(name);
    const { links, addresses } = namespace.session;
    await links.add({ kind: 'bridge', name: BRIDGE, up: true });
    await addresses.add({ link: BRIDGE, prefix: Prefix.of(ROUTER, 16) });
    return new Lan(namespace);
  }

  /** Gives a container links into the network, set up and without addresses, as a calling plugin has made them. */
  async join(container: Namespace, n: number): Promise<void> {
    const { links } = this.#namespace.session;
    for (const name of LINKS) {
      const port = `${name}c${n}`;
      await links.add({ kind: 'veth', name: port, peer: { name, netns: container.handle } });
      await links.set(port, { master: BRIDGE, up: true });
      await container.session.links.set(name, { up: true });
    }
  }

  /** The addresses that containers have of its server. */
  get leases(): readonly Addr[] {
    return this.#server.leases;
  }

  [Symbol.dispose](): void {
    this.#server[Symbol.dispose]();
    this.#namespace[Symbol.dispose]();
  }
}

const BRIDGE = 'kitlan';
const ROUTER = Addr.parse('10.216.0.1');
/** The names of interfaces in calls of checks. */
const LINKS = ['eth0', 'net1'] as const;
