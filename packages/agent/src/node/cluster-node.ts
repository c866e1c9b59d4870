/**
 * The agent's part of a cluster: membership, routes, and addresses for the node's pods. A store that is away, at the
 * start or later, keeps nobody from anything that needs no store: pods keep their routes, and what is taken down is
 * noted; it is tried until it answers.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { HeddleError } from '@heddle/errors';
import {
  claimSubnets,
  LeakWatch,
  listHandles,
  type Member,
  readCluster,
  releaseIdleBlocks,
} from '@heddle/ipam/blocks';
import { WaitingReleases } from '@heddle/ipam/cluster';
import { Prefix } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import {
  type JoinOptions,
  joinCluster,
  type Membership,
  type MembershipEvent,
  type OwnNode,
  prepareOverlays,
  type Router,
  type RouterEvent,
  type RouterOptions,
  startRouter,
} from '@heddle/routing';
import type { Store } from '@heddle/store';
import { watchNames } from '../watch-names.ts';
import { type AddressService, serveAddresses } from './address-service.ts';
import { Clashes, REMEDY } from './clashes.ts';
import { handlesInUse } from './evidence.ts';
import { FormerNetwork, type FormerNetworkOptions } from './former-network.ts';
import { KeptAhead } from './kept-ahead.ts';
import { restoreAddresses } from './live-addresses.ts';
import { NodeAddresses, type Unready } from './node-addresses.ts';
import { type NodeConfig, underlayOptions } from './node-config.ts';
import { membershipEvent, type NodeEvent, nodeEvent, routerEvent } from './node-event.ts';
import type { AsJson, NodeStatus } from './node-status.ts';
import { openStore } from './open-store.ts';

/** The network of the cluster: what makes a node a member, and what gives it routes. */
export interface ClusterNetwork {
  join(options: JoinOptions): Promise<Membership>;
  route(options: RouterOptions): Promise<Router>;
}

/** How often things are done, in milliseconds. */
export interface NodePace {
  /** From one attempt to join to the next, at first; it doubles up to half a minute. */
  readonly retry: number;
  /** From one look at idle blocks and leaked addresses to the next. */
  readonly tidy: number;
  /** How long an address must be seen without its attachment before it counts as leaked. */
  readonly leakGrace: number;
}

/** What a node is made of. */
export interface ClusterNodeOptions {
  readonly config: NodeConfig;
  /** The machine's id. */
  readonly instance: string;
  /** Of the software. */
  readonly version: string;
  /** The node's own network namespace. */
  readonly session: KernelSession;
  /** That of `@heddle/routing` unless told otherwise. */
  readonly network?: ClusterNetwork;
  /** How the former network of the node is told to take an attachment down, where the configuration has one. */
  readonly detach?: FormerNetworkOptions['detach'];
  readonly onEvent?: (event: NodeEvent) => void;
  readonly pace?: Partial<NodePace>;
}

const PACE: NodePace = { retry: 1000, tidy: 5 * 60_000, leakGrace: 15 * 60_000 };
const LONGEST_RETRY = 30_000;
const NETWORK: ClusterNetwork = { join: joinCluster, route: startRouter };

/** What is there while the node is a member. */
interface Place {
  readonly store: Store;
  readonly membership: Membership;
  readonly router: Router;
  readonly leaks: LeakWatch;
}

/** See the file's comment. */
export class ClusterNode implements AsyncDisposable {
  /** For plugins in the same process. */
  readonly addresses: NodeAddresses;
  readonly #options: ClusterNodeOptions;
  readonly #pace: NodePace;
  readonly #waiting: WaitingReleases;
  readonly #subnets: readonly Prefix[];
  readonly #former: FormerNetwork | undefined;
  readonly #ahead: KeptAhead;
  readonly #clashes: Clashes;
  readonly #ending = new AbortController();
  readonly #stack = new AsyncDisposableStack();
  readonly #joined = Promise.withResolvers<void>();
  #service: AddressService | undefined;
  #place: Place | undefined;
  #unready: Unready | undefined = { reason: 'the node has not joined its cluster yet' };
  #leaksReleased = 0;
  #retryWaiting: Promise<void> | undefined;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: ClusterNodeOptions) {
    const { config } = options;
    this.#options = options;
    this.#pace = { ...PACE, ...options.pace };
    this.#waiting = new WaitingReleases(config.waiting);
    this.#subnets = config.subnets.map((text) => Prefix.parse(text));
    this.#former =
      config.former &&
      new FormerNetwork({
        ...{ config: config.former, subnets: this.#subnets, host: options.session, detach: options.detach },
        tell: (what, failure) => this.#tell(what, failure),
      });
    this.addresses = new NodeAddresses({
      node: config.name,
      waiting: this.#waiting,
      onWaiting: () => this.#giveWaitingSoon(),
      onTaken: () => this.#ahead.taken(),
      onGiven: async (attachment) => await this.#former?.detached(attachment),
      condition: async () => ({ unready: await this.#troubled(), warnings: this.#warnings() }),
    });
    this.#ahead = new KeptAhead({
      reserves: () => this.addresses.reserves,
      claim: () => this.addresses.keepAhead(),
      onFailure: (error) => this.#tell('claim blocks ahead of the need', error),
      retry: LONGEST_RETRY,
      monotonic: () => performance.now(),
    });
    this.#clashes = new Clashes(options.session, (what, failure) => this.#tell(what, failure));
    this.#joined.promise.catch(() => {});
  }

  /** Serves, and begins to join; it does not wait until that has come to an end. @throws {NodeError} NODE_SOCKET */
  async start(): Promise<void> {
    const { config } = this.#options;
    this.#service = await serveAddresses({
      path: config.socket,
      addresses: this.addresses,
      onFailure: (error) => this.#tell('serve a plugin', error),
    });
    this.#stack.use(this.#service);
    this.#stack.use(watchNames(config.waiting, (name) => name.endsWith('.give') && this.#giveWaitingSoon()));
    if (this.#former !== undefined) this.#stack.use(this.#former.watch(() => this.#place?.membership.member));
    this.#work = this.#run();
  }

  /** Ends when the node has joined. */
  joined(): Promise<void> {
    return this.#joined.promise;
  }

  /** How it is. */
  async status(): Promise<NodeStatus> {
    const { config } = this.#options;
    const readiness = await this.addresses.status();
    const { membership, router } = this.#place ?? {};
    const reserves = this.addresses.reserves ?? [];
    return {
      ...{ name: config.name, store: config.store, socket: config.socket },
      ready: readiness.ready,
      ...(!readiness.ready && { reason: readiness.reason }),
      ...(!readiness.ready && readiness.hint !== undefined && { hint: readiness.hint }),
      membership: membership?.state.kind ?? 'joining',
      blocks: this.addresses.blocks.map(({ cidr, pool, held, released }) => ({
        ...{ cidr: `${cidr}`, pool, held: held.length, resting: released.length },
      })),
      ...(reserves.length > 0 && {
        ahead: reserves.map(({ family, free, spare }) => ({ family, free, isBehind: spare < 0 })),
      }),
      waitingReleases: this.#waiting.list().length,
      leaksReleased: this.#leaksReleased,
      ...(router !== undefined && { routing: asJson(router.status()) }),
    };
  }

  /** Leaves the kernel, and the store, as they are: another agent goes on from there. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new Error('the node ends'));
    this.#joined.reject(this.#ending.signal.reason);
    this.addresses.close({ reason: 'the agent is ending', hint: 'try again when it has been replaced' });
    await this.#work;
    await this.#retryWaiting;
    await this.#ahead.end();
    await this.#stack.disposeAsync();
    await this.#leavePlace();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    for (let wait = this.#pace.retry; !signal.aborted; wait = Math.min(wait * 2, LONGEST_RETRY)) {
      try {
        this.#place = await this.#enter();
        this.#unready = undefined;
        // What happened to it between its look and now.
        this.#former?.settleSoon(() => this.#place?.membership.member);
        this.#joined.resolve();
        this.#tell('joined the cluster');
        await this.#ahead.look();
        break;
      } catch (error) {
        this.#unready = unreadyBy(error);
        this.addresses.close(this.#unready);
        this.#tell('join the cluster', error);
      }
      await this.#pause(wait);
    }
    while (!signal.aborted) {
      await this.#pause(this.#pace.tidy);
      if (!signal.aborted) await this.#tidy();
    }
  }

  async #enter(): Promise<Place> {
    const { config, network = NETWORK, session, version, instance } = this.#options;
    await using stack = new AsyncDisposableStack();
    const store = stack.use(await openStore(config));
    const membership = stack.use(
      await network.join({
        ...{ store, session, name: config.name, instance: config.instance ?? instance, version },
        labels: config.labels,
        underlay: underlayOptions(config),
        restore: (member, own) => this.#restore(member, own),
        onEvent: (event) => this.#hear(event),
      }),
    );
    const router = stack.use(
      await network.route({
        ...{ membership, store, session },
        onEvent: (event) => this.#hearRouter(event),
      }),
    );
    const { member } = membership;
    await this.addresses.open({
      member,
      podMtu: (pools) => router.podMtu(...pools),
    });
    const place = { store, membership, router, leaks: new LeakWatch(member, this.#pace.leakGrace) };
    stack.move();
    return place;
  }

  async #leavePlace(): Promise<void> {
    const { store, membership, router } = this.#place ?? {};
    this.#place = undefined;
    await router?.[Symbol.asyncDispose]();
    await membership?.[Symbol.asyncDispose]();
    await store?.[Symbol.asyncDispose]();
  }

  /** Gives up blocks that nobody uses, and addresses whose attachments were twice seen to be gone. */
  async #tidy(): Promise<void> {
    const { membership, leaks } = this.#place ?? {};
    if (membership === undefined || leaks === undefined) return;
    try {
      const records = (await listHandles(membership.member)).map(({ value }) => value);
      const released = await leaks.release(await handlesInUse(records, this.#options.session));
      this.#leaksReleased += released.length;
      if (released.length > 0) this.#tell(`gave back ${released.join(', ')}, whose attachments are gone`);
      await this.#ahead.look();
      await releaseIdleBlocks(membership.member);
      await this.#former?.settle(membership.member);
    } catch (error) {
      this.#tell('give up what nobody uses', error);
    }
  }

  /**
   * Subnets are the node's before it gives any address. Pods of a former network, and those that live on while their node
   * was taken for dead, keep their addresses, before anybody can get these anew.
   */
  async #restore(member: Member, own: OwnNode): Promise<void> {
    if (this.#former !== undefined) {
      await prepareOverlays(this.#options.session, own, (await readCluster(member)).pools);
      await this.#former.settle(member);
    } else if (this.#subnets.length > 0) await claimSubnets(member, this.#subnets);
    const { taken, clashes } = await restoreAddresses(member, this.#options.session);
    if (taken.length > 0) {
      this.#tell(`took ${taken.join(', ')} again, for pods that are there though the node had been removed`);
    }
    this.#clashes.found(clashes);
  }

  #hear(event: MembershipEvent): void {
    this.#options.onEvent?.(membershipEvent(event));
    if (event.kind === 'back' || event.kind === 'rejoined') this.#giveWaitingSoon();
  }

  #hearRouter(event: RouterEvent): void {
    const told = routerEvent(event);
    if (told !== undefined) this.#options.onEvent?.(told);
  }

  #giveWaitingSoon(): void {
    this.#retryWaiting ??= this.#giveWaiting().finally(() => {
      this.#retryWaiting = undefined;
    });
  }

  async #giveWaiting(): Promise<void> {
    const { signal } = this.#ending;
    for (let wait = this.#pace.retry; !signal.aborted; wait = Math.min(wait * 2, LONGEST_RETRY)) {
      try {
        // Before the node has joined nothing can be given back, and joining does all of it.
        if (this.#place === undefined || (await this.addresses.giveWaiting()) === 0) return;
      } catch (error) {
        this.#tell('give back what waits', error);
      }
      await this.#pause(wait);
    }
  }

  async #troubled(): Promise<Unready | undefined> {
    const state = this.#place?.membership.state;
    if (state?.kind === 'away') return { reason: `the store does not answer: ${state.reason}` };
    if (state?.kind === 'refused') return { reason: state.reason };
    return this.#unready ?? (await this.#clashing());
  }

  async #clashing(): Promise<Unready | undefined> {
    const uses = [...(await this.#clashes.left()), ...(this.#former?.clashes ?? [])];
    if (uses.length === 0) return undefined;
    return { reason: uses.join('; '), hint: REMEDY };
  }

  #warnings(): readonly string[] {
    const problems = this.#place?.router?.status().problems ?? [];
    return [
      ...problems.map(({ subject, reason }) => `${subject}: ${reason}`),
      ...this.#ahead.short.map(
        ({ family, free }) => `${free} addresses of IPv${family} are free, and no pool has another block`,
      ),
    ];
  }

  async #pause(milliseconds: number): Promise<void> {
    const { signal } = this.#ending;
    await pause(milliseconds, undefined, { signal, ref: false }).catch(() => {});
  }

  #tell(what: string, failure?: unknown): void {
    this.#options.onEvent?.(nodeEvent(what, failure));
  }
}

function unreadyBy(error: unknown): Unready {
  const reason = error instanceof Error ? error.message : String(error);
  return { reason, ...(error instanceof HeddleError && error.hint !== undefined && { hint: error.hint }) };
}

function asJson<T>(value: T): AsJson<T> {
  return JSON.parse(JSON.stringify(value)) as AsJson<T>;
}
