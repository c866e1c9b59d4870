/**
 * The network that a node had before it was one of Heddle's. Its pods keep their addresses and their traffic until they
 * are taken down: what host-local's files reserve is held in the cluster too, under the name of the attachment, and the
 * bridge that they are on leads to the new pods, which they take for neighbours. Taken down they may be by either
 * network: the one that they were attached by, or the one that the runtime knows now.
 */
import { basename } from 'node:path';
import { LINK_GROUPS } from '@heddle/dataplane';
import { fileStore, heldBy, type Reservation, release } from '@heddle/ipam';
import {
  type Block,
  claimSubnets,
  listHandles,
  type Member,
  releaseHandle,
  retakeAddresses,
} from '@heddle/ipam/blocks';
import { type Attachment, attachmentHandle, attachmentOf } from '@heddle/ipam/cluster';
import type { Addr, Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { IN } from '@heddle/sys';
import { watchNames } from '../watch-names.ts';
import { connectBridge, takeFromEverywhere } from './former-bridge.ts';
import { InTurn } from './in-turn.ts';
import type { FormerNetworkConfig } from './node-config.ts';

/** What a former network needs. */
export interface FormerNetworkOptions {
  readonly config: FormerNetworkConfig;
  /** The node's part of it. */
  readonly subnets: readonly Prefix[];
  /** The node's own network namespace. */
  readonly host: KernelSession;
  /** Has the plugins of the former network take an attachment down; without, only its addresses are given back. */
  readonly detach?: ((config: string, attachment: Attachment) => Promise<void>) | undefined;
  readonly tell: (what: string, failure?: unknown) => void;
}

/** See the file's comment. */
export class FormerNetwork {
  /** The addresses that its pods use and others have, in words. */
  clashes: readonly string[] = [];
  readonly #options: FormerNetworkOptions;
  readonly #network: string;
  readonly #turns = new InTurn();
  #isDue = false;

  constructor(options: FormerNetworkOptions) {
    this.#options = options;
    this.#network = basename(options.config.reservations);
  }

  /** Follows what becomes of the reservations, until the result's disposal. @param member while the node is one */
  watch(member: () => Member | undefined): Disposable {
    const { reservations } = this.#options.config;
    const events = IN.CREATE | IN.MOVED_TO | IN.DELETE | IN.MOVED_FROM;
    return watchNames(reservations, () => this.settleSoon(member), events);
  }

  /** As {@link settle}, in a moment; of what goes wrong it only tells. */
  settleSoon(member: () => Member | undefined): void {
    if (this.#isDue) return;
    this.#isDue = true;
    void this.#turns
      .take('settle', async () => {
        // What happens from here on is seen.
        this.#isDue = false;
        const now = member();
        if (now !== undefined) await this.#settle(now);
      })
      .catch((error: unknown) => this.#options.tell('follow the former network', error));
  }

  /**
   * Makes the node's subnets its own, and everything as the reservations are. It can be done again at any time.
   *
   * @param member of the node; while it joins, nobody else can take anything by it
   * @throws {IpamError} IPAM_POOL_INVALID, IPAM_ADDRESS_UNAVAILABLE when another node has one of the subnets; IPAM_NODE_LOST,
   *   IPAM_BUSY
   * @throws {StoreError} as the store does
   * @throws {NetlinkError} when the kernel refuses a route
   */
  settle(member: Member): Promise<void> {
    return this.#turns.take('settle', () => this.#settle(member));
  }

  /**
   * A container's interface was taken down by the node's present network. If it was attached by this one, it is taken down
   * by this one as well.
   */
  async detached({ containerID, ifName }: Attachment): Promise<void> {
    const { config, detach, tell } = this.#options;
    const network = this.#network;
    const owner = { containerID, ifName };
    if (heldBy(this.#reservations(), owner).length === 0) return;
    try {
      await detach?.(config.config, { network, containerID, ifName });
    } catch (error) {
      tell(`take ${containerID} down from ${network}`, error);
    }
    await release(fileStore({ directory: config.reservations }), owner);
  }

  async #settle(member: Member): Promise<void> {
    const { subnets, host, config } = this.#options;
    const reservations = this.#reservations();
    await takeFromEverywhere(host, config.overlays);
    // Before the blocks are claimed: where a block leads nowhere else, its addresses do not leave the node.
    const pods = reservations.map(({ addr }) => addr);
    const bridge = await connectBridge(host, config.bridge, pods);
    const blocks = await claimSubnets(member, subnets);
    const own = await this.#ownAddresses();
    await retakeAddresses(member, { handle: formerHandle(member.node), addresses: own });
    await this.#holdAll(member, reservations);
    await this.#releaseGone(member, reservations);
    await bridge?.answerFor(addressesOf(blocks), [...pods, ...own]);
  }

  #reservations(): readonly Reservation[] {
    const all = fileStore({ directory: this.#options.config.reservations }).list();
    return all.filter(({ owner }) => owner !== undefined);
  }

  async #holdAll(member: Member, reservations: readonly Reservation[]): Promise<void> {
    const clashes: string[] = [];
    for (const [handle, ofOne] of Map.groupBy(reservations, (each) => this.#handleOf(each))) {
      const { refused } = await retakeAddresses(member, { handle, addresses: ofOne.map(({ addr }) => addr) });
      clashes.push(...refused.map(({ addr, why }) => `${handle} uses ${addr}, but ${why}`));
    }
    this.clashes = clashes;
  }

  async #releaseGone(member: Member, reservations: readonly Reservation[]): Promise<void> {
    const present = new Set(reservations.map((each) => this.#handleOf(each)));
    for (const { value, revision } of await listHandles(member, `${this.#network}/`)) {
      if (attachmentOf(value.handle) === undefined || present.has(value.handle)) continue;
      await releaseHandle(member, value.handle, { writtenAt: revision });
    }
  }

  #handleOf({ owner }: Reservation): string {
    const { containerID = '', ifName = OLDEST_FORMAT } = owner ?? {};
    return attachmentHandle({ network: this.#network, containerID, ifName });
  }

  /** What the host itself uses of the subnets, and what their pods take for a network or for everybody. */
  async #ownAddresses(): Promise<readonly Addr[]> {
    const { host, subnets } = this.#options;
    const ours = new Set(
      (await host.links.list())
        .filter(({ group }) => group === LINK_GROUPS.cluster)
        .map(({ index }) => index),
    );
    const used = (await host.addresses.list())
      .filter(({ link, prefix }) => !ours.has(link) && subnets.some((subnet) => subnet.contains(prefix.addr)))
      .map(({ prefix }) => prefix.addr);
    const edges = subnets.flatMap(({ network, last, family }) =>
      family === 4 ? [network, last] : [network],
    );
    return [...used, ...edges.filter((edge) => !used.some((addr) => addr.equals(edge)))];
  }
}

/** The name under which the addresses are held that a former network has on its node, besides those of pods. */
export function formerHandle(node: string): string {
  return `former.${node}`;
}

/** Reservations in host-local's oldest format do not name the interface; runtimes of that time had one. */
const OLDEST_FORMAT = 'eth0';

function addressesOf(blocks: readonly Block[]): readonly Addr[] {
  return blocks.flatMap(({ cidr }) =>
    Array.from({ length: Number(cidr.size()) }, (_, index) => cidr.network.add(index)).filter(
      (addr) => addr !== undefined,
    ),
  );
}
