/** A namespace that looks like the host's: its links as far as they can be made, addresses, routes, rules, parameters. */
import { HeddleError } from '@heddle/errors';
import {
  type Address,
  type KernelSession,
  type Link,
  type LinkSpec,
  type Route,
  RT_SCOPE,
} from '@heddle/netlink';
import { linkParameters, NODE_PARAMETERS } from './parameters.ts';

/** What could not be made as it is. */
export interface Mirrored {
  /** Links that only stand in for others, with what they stand in for. */
  readonly standIns: readonly { readonly name: string; readonly kind: string }[];
  /** How many ends of containers' links were left out. */
  readonly leftOut: number;
  /** What the kernel refused, in words. */
  readonly refused: readonly string[];
}

/**
 * Makes `mirror` look like `host`, which is only read.
 *
 * @param named names of links that the network mentions; these are never left out
 * @param beyond a namespace for the far ends of links that stand in for others
 */
export async function mirrorHost(
  host: KernelSession,
  mirror: KernelSession,
  { named, beyond }: { readonly named: ReadonlySet<string>; readonly beyond: KernelSession },
): Promise<Mirrored> {
  const making = new Mirroring(host, mirror, named, beyond);
  await making.make();
  const { standIns, leftOut, refused } = making;
  return { standIns, leftOut, refused };
}

class Mirroring implements Mirrored {
  readonly standIns: { name: string; kind: string }[] = [];
  readonly refused: string[] = [];
  leftOut = 0;
  readonly #host: KernelSession;
  readonly #mirror: KernelSession;
  readonly #named: ReadonlySet<string>;
  readonly #beyond: KernelSession;
  /** Links that were made, by their index on the host. */
  readonly #made = new Map<number, Link>();

  constructor(host: KernelSession, mirror: KernelSession, named: ReadonlySet<string>, beyond: KernelSession) {
    this.#beyond = beyond;
    this.#host = host;
    this.#mirror = mirror;
    this.#named = named;
  }

  async make(): Promise<void> {
    const host = this.#host;
    const links = await host.links.list();
    const addresses = (await host.addresses.list()).filter(({ scope }) => scope !== RT_SCOPE.LINK);
    await this.#copyParameters(NODE_PARAMETERS);
    await this.#mirror.links.set('lo', { up: true });
    for (const link of links) if (link.name === 'lo') this.#made.set(link.index, link);
    await this.#makeLinks(links.filter((link) => link.name !== 'lo' && this.#isWanted(link, addresses)));
    for (const { name } of this.#made.values()) await this.#copyParameters(linkParameters(name));
    for (const link of this.#made.values()) {
      await this.#try(`set ${link.name} up`, () => this.#mirror.links.set(link.name, { up: link.up }));
    }
    for (const address of addresses) await this.#addAddress(address);
    await this.#addRoutes(await host.routes.list());
    for (const { family, priority, table, action, ...rule } of await host.rules.list()) {
      if (KERNEL_RULES.includes(priority)) continue;
      const spec = { ...rule, family, priority, table, action };
      await this.#try(`rule ${priority}`, () => this.#mirror.rules.add(spec));
    }
  }

  /** The ends of containers' links say nothing; there may be hundreds. Nor do the tunnels that each namespace has. */
  #isWanted({ name, kind, index, parentNetnsId }: Link, addresses: readonly Address[]): boolean {
    const isUsed = this.#named.has(name) || addresses.some(({ link }) => link === index);
    if (isUsed) return true;
    if (kind === 'veth' && parentNetnsId !== undefined) {
      this.leftOut++;
      return false;
    }
    return !AUTOMATIC.test(name);
  }

  /** What others sit on, or belong to, comes first. */
  async #makeLinks(links: readonly Link[]): Promise<void> {
    let waiting = links;
    while (waiting.length > 0) {
      const isKnown = (index: number | undefined) =>
        index === undefined ||
        index === 0 ||
        this.#made.has(index) ||
        !waiting.some((link) => link.index === index);
      const ready = waiting.filter(
        ({ kind, parent, parentNetnsId, master }) =>
          isKnown(master) && (kind === 'veth' || parentNetnsId !== undefined || isKnown(parent)),
      );
      const next = ready.length > 0 ? ready : waiting;
      for (const link of next) await this.#makeLink(link, links);
      waiting = waiting.filter((link) => !next.includes(link));
    }
  }

  async #makeLink(link: Link, all: readonly Link[]): Promise<void> {
    if (this.#made.has(link.index)) return;
    const { index, name, mac, mtu, kind = 'hardware', alias } = link;
    const master = this.#made.get(link.master ?? 0)?.name;
    const base = { name, mac, mtu, master };
    const peer = all.find(
      ({ index: other }) => kind === 'veth' && link.parentNetnsId === undefined && other === link.parent,
    );
    const same = sameKind(link, base, this.#made.get(link.parent ?? 0)?.name, peer);
    let isMade = same !== undefined && (await this.#try(undefined, () => this.#mirror.links.add(same)));
    if (isMade && peer !== undefined) this.#made.set(peer.index, peer);
    if (!isMade) {
      isMade = await this.#standIn(base);
      if (isMade) this.standIns.push({ name, kind });
    }
    if (!isMade) return;
    this.#made.set(index, link);
    if (alias !== undefined) await this.#try(undefined, () => this.#mirror.links.set(name, { alias }));
  }

  /** A dummy, or on kernels without that a veth whose far end is up, where nobody is. */
  async #standIn(base: Pick<LinkSpec, 'name' | 'mac' | 'mtu' | 'master'>): Promise<boolean> {
    const { name } = base;
    if (await this.#try(undefined, () => this.#mirror.links.add({ ...base, kind: 'dummy' }))) return true;
    const peer = { name, netns: this.#beyond.handle };
    const isMade = await this.#try(`link ${name}`, () =>
      this.#mirror.links.add({ ...base, kind: 'veth', peer }),
    );
    if (isMade) await this.#try(undefined, () => this.#beyond.links.set(name, { up: true }));
    return isMade;
  }

  async #addAddress({ link, prefix, peer, broadcast, scope, label }: Address): Promise<void> {
    const name = this.#made.get(link)?.name;
    if (name === undefined || prefix.addr.isLoopback) return;
    const spec = { link: name, prefix, peer, broadcast, scope, label, noDad: prefix.family === 6 };
    await this.#try(`address ${prefix} on ${name}`, () => this.#mirror.addresses.add(spec));
  }

  /** Routes through a gateway need the routes to it. */
  async #addRoutes(routes: readonly Route[]): Promise<void> {
    const wanted = routes
      .filter(
        ({ table, protocol, flags }) =>
          table !== LOCAL_TABLE && protocol !== BY_KERNEL && (flags & CLONED) === 0,
      )
      .toSorted((a, b) => Number(hasGateway(a)) - Number(hasGateway(b)));
    for (const { link, nexthops, flags: _flags, family: _family, ...route } of wanted) {
      const name = link === undefined ? undefined : this.#made.get(link)?.name;
      // Those through containers' links go with them.
      if (link !== undefined && name === undefined) continue;
      const hops = nexthops?.map((hop) => ({ ...hop, link: this.#made.get(hop.link)?.name }));
      const spec = { ...route, link: name, ...(hops !== undefined && { nexthops: hops }) };
      await this.#try(`route ${route.dst}`, () => this.#mirror.routes.add(spec));
    }
  }

  async #copyParameters(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (!(await this.#host.sysctl.has(name)) || !(await this.#mirror.sysctl.has(name))) continue;
      const value = await this.#host.sysctl.read(name);
      if ((await this.#mirror.sysctl.read(name)) !== value) {
        await this.#mirror.sysctl.tryWrite({ [name]: value });
      }
    }
  }

  async #try(what: string | undefined, step: () => Promise<unknown>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      if (!(error instanceof HeddleError)) throw error;
      if (what !== undefined && !/EEXIST|exists/i.test(error.message))
        this.refused.push(`${what}: ${error.message}`);
      return false;
    }
  }
}

/** The same kind of link; nothing where that cannot be made. */
function sameKind(
  { kind, data, parent, parentNetnsId }: Link,
  base: { readonly name: string; readonly master: string | undefined },
  parentName: string | undefined,
  peer: Link | undefined,
): LinkSpec | undefined {
  if (kind === 'dummy' || kind === 'ifb') return { ...base, kind };
  if (kind === 'veth' && peer !== undefined) {
    return { ...base, kind, peer: { name: peer.name, mac: peer.mac, mtu: peer.mtu } };
  }
  if (data?.kind === 'bridge') {
    const { vlanFiltering, defaultVlan, ageingTime, multicastSnooping } = data;
    const bridge = { ...base, kind: 'bridge', ageingTime, multicastSnooping } as const;
    // Kernels without VLAN filtering refuse to be told that there is none.
    return vlanFiltering === true ? { ...bridge, vlanFiltering, defaultVlan } : bridge;
  }
  if (data?.kind === 'vrf') return { ...base, ...data };
  const isHere = parent !== undefined && parentNetnsId === undefined && parentName !== undefined;
  if (!isHere) return undefined;
  if (data?.kind === 'vlan' || data?.kind === 'macvlan' || data?.kind === 'ipvlan') {
    return { ...base, ...data, parent: parentName };
  }
  return undefined;
}

function hasGateway({ gateway, via, nexthops }: Route): boolean {
  return gateway !== undefined || via !== undefined || nexthops !== undefined;
}

/** Devices of tunnels that the kernel makes in each namespace by itself. */
const AUTOMATIC = /^(sit0|tunl0|ip6tnl0|gre0|gretap0|erspan0|ip6gre0|ip_vti0|ip6_vti0|teql0)$/;
const LOCAL_TABLE = 255;
/** RTPROT_KERNEL: made of addresses. */
const BY_KERNEL = 2;
/** RTM_F_CLONED */
const CLONED = 0x200;
/** The rules that each namespace has. */
const KERNEL_RULES: readonly number[] = [0, 32_766, 32_767];
