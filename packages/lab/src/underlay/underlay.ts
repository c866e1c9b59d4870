/**
 * The network between hosts: a switch a segment, and a router on all of them, in a namespace of its own. Switches are
 * bridges, the router's interfaces are the bridges themselves.
 */
import { Prefix } from '@heddle/netaddr';
import { type KernelSession, NetlinkError, openSession } from '@heddle/netlink';
import { createNetns, type NetnsHandle } from '@heddle/sys';
import { LabError } from '../lab-error.ts';
import type { HostPlan, SegmentPlan } from '../plan.ts';
import { netemOptions, type Weather } from './netem.ts';

/** The name of a host's only interface. */
export const UPLINK = 'eth0';

/** See the file's comment. */
export class Underlay implements Disposable {
  readonly netns: NetnsHandle = createNetns();
  readonly #session: KernelSession = openSession({ netns: this.netns });
  readonly #segments: ReadonlyMap<string, SegmentPlan>;
  readonly #ports = new Map<string, SegmentPlan>();
  readonly #cut = new Set<string>();

  private constructor(segments: readonly SegmentPlan[]) {
    this.#segments = new Map(segments.map((segment) => [segment.name, segment]));
  }

  /** Makes the switches and the router. */
  static async make(segments: readonly SegmentPlan[]): Promise<Underlay> {
    const underlay = new Underlay(segments);
    try {
      await underlay.#make();
      return underlay;
    } catch (error) {
      underlay[Symbol.dispose]();
      throw error;
    }
  }

  /** The hosts that are cut off. */
  get cutOff(): readonly string[] {
    return [...this.#cut];
  }

  /**
   * Gives a host its interface, with addresses and the way to other segments.
   *
   * @throws {LabError} when the segment has weather that this kernel cannot make
   */
  async connect(host: HostPlan, netns: NetnsHandle): Promise<void> {
    const segment = this.#segment(host.segment);
    await this.#session.links.add({
      ...{ name: host.name, kind: 'veth', mtu: segment.mtu, master: bridgeOf(segment), up: true },
      peer: { name: UPLINK, netns, mtu: segment.mtu },
    });
    this.#ports.set(host.name, segment);
    using inside = openSession({ netns });
    await inside.links.set('lo', { up: true });
    await inside.links.set(UPLINK, { up: true });
    for (const prefix of host.addresses) {
      await inside.addresses.add({ link: UPLINK, prefix, ...(prefix.family === 6 && { noDad: true }) });
    }
    for (const { addr, family } of segment.gateways) {
      const dst = family === 4 ? Prefix.DEFAULT4 : Prefix.DEFAULT6;
      await inside.routes.add({ dst, gateway: addr, link: UPLINK });
    }
    if (segment.delay > 0 || segment.loss > 0) await this.weather(host.name, segment);
  }

  /** Pulls a host's cable out of its switch; the host's own interface stays up and hears nothing more. */
  async cut(host: string): Promise<void> {
    this.#port(host);
    await this.#session.links.set(host, { master: 0 });
    this.#cut.add(host);
  }

  /** Puts it back. */
  async heal(host: string): Promise<void> {
    await this.#session.links.set(host, { master: bridgeOf(this.#port(host)), up: true });
    this.#cut.delete(host);
  }

  /**
   * Delays and loses what goes to a host from now on.
   *
   * @throws {LabError} LAB_FAILED when the kernel has no netem
   */
  async weather(host: string, weather: Weather): Promise<void> {
    this.#port(host);
    const spec = { link: host, kind: 'raw', name: 'netem', options: netemOptions(weather) } as const;
    try {
      await this.#session.qdiscs.replace(spec);
    } catch (error) {
      if (!NetlinkError.is(error, 'ENOENT')) throw error;
      throw new LabError('LAB_FAILED', `delay and loss for ${host}: this kernel has no netem`, {
        cause: error,
        hint: 'leave out delay and loss, or load the module sch_netem',
      });
    }
  }

  /** Routes by hand, on the router. */
  async route(dst: Prefix, gateway: Prefix, segment: string): Promise<void> {
    const link = bridgeOf(this.#segment(segment));
    await this.#session.routes.add({ dst, gateway: gateway.addr, link });
  }

  [Symbol.dispose](): void {
    this.#session[Symbol.dispose]();
    this.netns[Symbol.dispose]();
  }

  async #make(): Promise<void> {
    const { links, addresses, sysctl } = this.#session;
    await links.set('lo', { up: true });
    await sysctl.write('net/ipv4/ip_forward', 1);
    await sysctl.write('net/ipv6/conf/all/forwarding', 1);
    // Two addresses that are new at once on one switch are no clash here, and detection takes a second.
    await sysctl.write('net/ipv6/conf/default/accept_dad', 0);
    for (const segment of this.#segments.values()) {
      const name = bridgeOf(segment);
      // Without snooping neighbour discovery needs no querier.
      await links.add({ name, kind: 'bridge', mtu: segment.mtu, up: true, multicastSnooping: false });
      // Set once more, so that ports which come do not change it.
      await links.set(name, { mtu: segment.mtu });
      for (const prefix of segment.gateways) {
        await addresses.add({ link: name, prefix, ...(prefix.family === 6 && { noDad: true }) });
      }
    }
  }

  #segment(name: string): SegmentPlan {
    const segment = this.#segments.get(name);
    if (segment === undefined) throw new LabError('LAB_MISSING', `there is no segment ${name}`);
    return segment;
  }

  #port(host: string): SegmentPlan {
    const segment = this.#ports.get(host);
    if (segment !== undefined) return segment;
    throw new LabError('LAB_MISSING', `there is no node ${host}`, {
      hint: `there are ${[...this.#ports.keys()].join(', ')}`,
    });
  }
}

function bridgeOf({ name }: SegmentPlan): string {
  return `sw-${name}`;
}
