import { currentNetns, type NetnsHandle } from '@heddle/sys';
import { Addresses } from '../address/addresses.ts';
import { Bridges } from '../bridge/bridges.ts';
import type { Conntrack } from '../conntrack/conntrack.ts';
import type { Change } from '../core/change.ts';
import { NetlinkClient } from '../core/client.ts';
import { NETLINK } from '../core/header.ts';
import type { Message } from '../core/message.ts';
import { type ExchangeObserver, observed, observing } from '../core/observed-transport.ts';
import type { Outcomes, Step } from '../core/query.ts';
import { type ModeChoice, SocketTransport } from '../core/socket-transport.ts';
import type { Transport } from '../core/transport.ts';
import { deleteAside } from '../link/announced-deletion.ts';
import { Links } from '../link/links.ts';
import type { LinkRemovals } from '../link/removals.ts';
import { type DeleteLink, Rtnetlink } from '../link/rtnetlink.ts';
import { Neighbours } from '../neighbour/neighbours.ts';
import type { NftMemory } from '../nft/memory.ts';
import type { Nft } from '../nft/nft.ts';
import { Routes } from '../route/routes.ts';
import { Rules } from '../rule/rules.ts';
import { Qdiscs, TrafficClasses, TrafficFilters } from '../tc/traffic.ts';
import { deferred } from './deferred.ts';
import { kernelPackets, type Packets } from './packets.ts';
import { kernelProcNet, type ProcNet } from './proc-net.ts';
import { kernelSubscribe, type SubscribeOptions, type Subscription } from './subscription.ts';
import { kernelSysctl, type Sysctl } from './sysctl.ts';

/**
 * The kernel as one network namespace sees it.
 *
 * Sockets are opened by the first use of what needs them, and stay in the namespace; they keep it alive
 * until the session is disposed of.
 */
export interface KernelSession extends Disposable {
  /** The namespace's identity: device and inode of its file, equal for two sessions of one namespace. */
  readonly netns: { readonly key: string };
  /** The namespace, as a target of `links.add` and `links.set`; open as long as the session is. */
  readonly handle: NetnsHandle;
  readonly links: Links;
  readonly addresses: Addresses;
  readonly routes: Routes;
  readonly rules: Rules;
  readonly neighbours: Neighbours;
  readonly bridge: Bridges;
  readonly qdiscs: Qdiscs;
  readonly classes: TrafficClasses;
  readonly filters: TrafficFilters;
  readonly nft: Nft;
  readonly conntrack: Conntrack;
  readonly sysctl: Sysctl;
  readonly procNet: ProcNet;
  readonly packets: Packets;
  /**
   * Makes several changes with one send. Each is made or refused by itself; all refusals are reported.
   *
   * @example
   * await session.batch([
   *   session.links.plan.set('eth0', { up: true }),
   *   session.addresses.plan.add({ link: 'eth0', prefix }),
   * ]);
   * @throws {NetlinkError} for the change that was refused, an `ErrorList` when there are several
   */
  batch(changes: readonly Change[]): Promise<void>;
  /**
   * Makes changes and asks questions with one send, in this order. Each is made, answered or refused by itself; all
   * refusals are reported. A question for a list has to be the last.
   *
   * @example
   * const [, port] = await session.together([links.plan.set(index, { alias }), links.ask.get(index)]);
   * @throws {NetlinkError} for the one that was refused, an `ErrorList` when there are several
   */
  together<const S extends readonly Step[]>(steps: S): Promise<Outcomes<S>>;
  /**
   * Tells of changes from now on, until the result is disposed of.
   *
   * @example
   * using watching = session.subscribe({
   *   groups: ['link', 'route4', 'route6'],
   *   onEvent: (event) => console.log(event),
   *   onResync: () => relist(),
   * });
   */
  subscribe(options: SubscribeOptions): Subscription;
}

/** How a session is opened. */
export interface SessionOptions {
  /** The namespace, kept open by the caller as long as the session is; the caller's own when left out. */
  readonly netns?: NetnsHandle | undefined;
  /**
   * `sync`: inside the call, for a process that does one thing. `threaded`, the default: on other threads. A function
   * is asked before each request.
   */
  readonly mode?: ModeChoice | undefined;
  /**
   * Has `links.delete` end as soon as the kernel announces that the link is gone, and go together with what other
   * sessions delete; its acknowledgement comes tens of milliseconds later.
   */
  readonly removals?: LinkRemovals | undefined;
  /**
   * The same for a process that ends with what it does: its deletions, also those of nf_tables, are seen to their end by
   * processes of their own, which may outlive it by some tens of milliseconds.
   */
  readonly leaveDeletions?: boolean | undefined;
  /** Told of every exchange with the kernel. */
  readonly onExchange?: ExchangeObserver | undefined;
  /** What sessions of the same namespace have read of its ruleset; what is there is not read again. */
  readonly ruleset?: NftMemory | undefined;
  /** Asked when the session is disposed of: where it says so, the session stays open, for another user. */
  readonly keep?: (() => boolean) | undefined;
}

/**
 * Opens a session.
 *
 * @example
 * using session = openSession();
 * for (const link of await session.links.list()) console.log(link.index, link.name);
 */
export function openSession(options: SessionOptions = {}): KernelSession {
  const { netns, mode = 'threaded', removals, leaveDeletions, onExchange, ruleset, keep } = options;
  let own: NetnsHandle | undefined;
  const transport = (protocol: number, leaveClose = false) =>
    observed(new SocketTransport({ protocol, netns, mode, leaveClose }), onExchange);
  return sessionOver({
    handle: () => {
      if (netns !== undefined) return netns;
      own ??= currentNetns();
      return own;
    },
    route: transport(NETLINK.ROUTE),
    // What was deleted of a ruleset is given back at the latest when the socket is closed, after a grace period of RCU.
    netfilter: transport(NETLINK.NETFILTER, leaveDeletions),
    sysctl: kernelSysctl(() => netns),
    procNet: kernelProcNet(() => netns),
    packets: (indexOf) => kernelPackets(() => netns, indexOf),
    subscribe: (options) => kernelSubscribe(netns, options),
    ...(removals !== undefined && {
      deleteLink: (message: Message) => observing(onExchange, () => removals.remove(message)),
    }),
    ...(leaveDeletions && {
      deleteLink: (message: Message) => observing(onExchange, async () => deleteAside(message, netns)),
    }),
    ...{ ruleset, keep },
    close: () => own?.close(),
  });
}

/** What a session stands on. */
export interface SessionPorts {
  readonly handle: () => NetnsHandle;
  /** NETLINK_ROUTE */
  readonly route: Transport;
  /** NETLINK_NETFILTER */
  readonly netfilter: Transport;
  readonly sysctl: Sysctl;
  readonly procNet: ProcNet;
  readonly packets: (indexOf: Rtnetlink['indexOf']) => Packets;
  readonly subscribe: (options: SubscribeOptions) => Subscription;
  /** How to delete a link otherwise than by a request that is waited for. */
  readonly deleteLink?: DeleteLink | undefined;
  /** What is known of the ruleset. */
  readonly ruleset?: NftMemory | undefined;
  /** See {@link SessionOptions}. */
  readonly keep?: (() => boolean) | undefined;
  /** Called when the session is disposed of, after its transports were. */
  readonly close?: (() => void) | undefined;
}

/** A session over other transports than the kernel's own sockets, such as a stand-in for tests. */
export function sessionOver(ports: SessionPorts): KernelSession {
  return new PortSession(ports);
}

/** Most calls need two or three of its parts: each is made when it is first asked for. */
class PortSession implements KernelSession {
  readonly sysctl: Sysctl;
  readonly procNet: ProcNet;
  readonly #ports: SessionPorts;
  readonly #route: NetlinkClient;
  readonly #kernel: Rtnetlink;
  #netfilter: NetlinkClient | undefined;
  #links: Links | undefined;
  #addresses: Addresses | undefined;
  #routes: Routes | undefined;
  #rules: Rules | undefined;
  #neighbours: Neighbours | undefined;
  #bridge: Bridges | undefined;
  #qdiscs: Qdiscs | undefined;
  #classes: TrafficClasses | undefined;
  #filters: TrafficFilters | undefined;
  #nft: Nft | undefined;
  #conntrack: Conntrack | undefined;
  #packets: Packets | undefined;

  constructor(ports: SessionPorts) {
    this.#ports = ports;
    this.sysctl = ports.sysctl;
    this.procNet = ports.procNet;
    this.#route = new NetlinkClient(ports.route);
    this.#kernel = new Rtnetlink(this.#route, ports.deleteLink);
  }

  get netns() {
    return { key: this.#ports.handle().key };
  }

  get handle() {
    return this.#ports.handle();
  }

  get links() {
    this.#links ??= new Links(this.#kernel);
    return this.#links;
  }

  get addresses() {
    this.#addresses ??= new Addresses(this.#kernel);
    return this.#addresses;
  }

  get routes() {
    this.#routes ??= new Routes(this.#kernel);
    return this.#routes;
  }

  get rules() {
    this.#rules ??= new Rules(this.#kernel);
    return this.#rules;
  }

  get neighbours() {
    this.#neighbours ??= new Neighbours(this.#kernel);
    return this.#neighbours;
  }

  get bridge() {
    this.#bridge ??= new Bridges(this.#kernel);
    return this.#bridge;
  }

  get qdiscs() {
    this.#qdiscs ??= new Qdiscs(this.#kernel);
    return this.#qdiscs;
  }

  get classes() {
    this.#classes ??= new TrafficClasses(this.#kernel);
    return this.#classes;
  }

  get filters() {
    this.#filters ??= new TrafficFilters(this.#kernel);
    return this.#filters;
  }

  get nft() {
    const { ruleset } = this.#ports;
    this.#nft ??= deferred(
      async () => new (await import('../nft/nft.ts')).Nft(this.#overNetfilter(), ruleset),
    );
    return this.#nft;
  }

  get conntrack() {
    this.#conntrack ??= deferred(
      async () => new (await import('../conntrack/conntrack.ts')).Conntrack(this.#overNetfilter()),
    );
    return this.#conntrack;
  }

  get packets() {
    this.#packets ??= this.#ports.packets(this.#kernel.indexOf);
    return this.#packets;
  }

  batch(changes: readonly Change[]): Promise<void> {
    return this.#kernel.batch(changes);
  }

  together<const S extends readonly Step[]>(steps: S): Promise<Outcomes<S>> {
    return this.#kernel.together(steps);
  }

  subscribe(options: SubscribeOptions): Subscription {
    return this.#ports.subscribe(options);
  }

  #overNetfilter(): NetlinkClient {
    this.#netfilter ??= new NetlinkClient(this.#ports.netfilter);
    return this.#netfilter;
  }

  [Symbol.dispose](): void {
    if (this.#ports.keep?.()) return;
    this.#packets?.[Symbol.dispose]();
    this.#route[Symbol.dispose]();
    this.#ports.netfilter[Symbol.dispose]();
    this.#ports.close?.();
  }
}
