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
}

/**
 * Opens a session.
 *
 * @example
 * using session = openSession();
 * for (const link of await session.links.list()) console.log(link.index, link.name);
 */
export function openSession(options: SessionOptions = {}): KernelSession {
  const { netns, mode = 'threaded', removals, leaveDeletions, onExchange, ruleset } = options;
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
    ruleset,
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
  /** Called when the session is disposed of, after its transports were. */
  readonly close?: (() => void) | undefined;
}

/** A session over other transports than the kernel's own sockets, such as a stand-in for tests. */
export function sessionOver(ports: SessionPorts): KernelSession {
  const route = new NetlinkClient(ports.route);
  const netfilter = new NetlinkClient(ports.netfilter);
  const kernel = new Rtnetlink(route, ports.deleteLink);
  const packets = ports.packets(kernel.indexOf);
  return {
    get netns() {
      return { key: ports.handle().key };
    },
    get handle() {
      return ports.handle();
    },
    links: new Links(kernel),
    addresses: new Addresses(kernel),
    routes: new Routes(kernel),
    rules: new Rules(kernel),
    neighbours: new Neighbours(kernel),
    bridge: new Bridges(kernel),
    qdiscs: new Qdiscs(kernel),
    classes: new TrafficClasses(kernel),
    filters: new TrafficFilters(kernel),
    nft: deferred(async () => new (await import('../nft/nft.ts')).Nft(netfilter, ports.ruleset)),
    conntrack: deferred(async () => new (await import('../conntrack/conntrack.ts')).Conntrack(netfilter)),
    sysctl: ports.sysctl,
    procNet: ports.procNet,
    packets,
    batch: (changes) => kernel.batch(changes),
    together: (steps) => kernel.together(steps),
    subscribe: ports.subscribe,
    [Symbol.dispose]() {
      packets[Symbol.dispose]();
      route[Symbol.dispose]();
      netfilter[Symbol.dispose]();
      ports.close?.();
    },
  };
}
