import { release } from 'node:os';
import { hasVxlanChecksumFault } from '@heddle/dataplane';
import type { KernelSession } from '@heddle/netlink';
import type { Store } from '@heddle/store';
import { Calculator } from './calculate/calculator.ts';
import { podMtu } from './calculate/overlays.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Membership } from './cluster/membership.ts';
import { Feed } from './feed.ts';
import { KINDS, type Kind, Reconciler } from './kernel/reconciler.ts';
import { untoldRules } from './kernel/rules.ts';
import { watchKernel } from './kernel/watch.ts';
import { type ProblemEvent, Problems } from './problems.ts';
import type { RoutingStatus } from './status.ts';
import { statusOf } from './status-of.ts';
import { TunnelKeeper } from './tunnel-keeper.ts';
import { findUnderlay, sameUnderlay } from './underlay/underlay.ts';

/** What a router works with. */
export interface RouterOptions {
  readonly membership: Membership;
  readonly store: Store;
  /** The node's own network namespace. */
  readonly session: KernelSession;
  /** How often all of the kernel is compared, in seconds; 60 by default. What changes is told by the kernel anyhow. */
  readonly resyncSeconds?: number;
  /**
   * Whether VXLAN devices fill in checksums themselves instead of leaving that to an offload (`ethtool -K heddle-vxlan
   * tx-checksum-ip-generic off`). By default only on kernels that get them wrong; some hardware is slow without it.
   */
  readonly fillInChecksums?: boolean;
  readonly clock?: Clock;
  readonly onEvent?: (event: RouterEvent) => void;
}

/** What a router tells of. */
export type RouterEvent =
  /** The kernel was made as it should be: how many changes it took. */
  | { readonly kind: 'applied'; readonly changes: number; readonly why: 'news' | 'drift' | 'resync' }
  | ProblemEvent;

/** Keeps the kernel's routes to other nodes as they should be. Its disposal leaves the kernel as it is. */
export interface Router extends AsyncDisposable {
  status(): RoutingStatus;
  /** Compares all of the kernel now, and repairs it. */
  resync(): Promise<void>;
  /** The MTU for a pod with addresses from these pools, in bytes; the underlay's for none. A pool that is not known (yet) counts as wrapped. */
  podMtu(...pools: readonly string[]): number;
}

/**
 * Starts to keep the node's routes, and returns when pools and nodes are known, or it is known why they are not. Nothing in the kernel is touched before all of the store has been read once; a
 * store that is away later leaves everything as it is.
 *
 * @example
 * await using router = await startRouter({ membership, store, session });
 * router.status().problems; // [] when all is as desired
 */
export async function startRouter(options: RouterOptions): Promise<Router> {
  const router = new NodeRouter(options);
  router.start();
  await router.known;
  return router;
}

const RESYNC = 60;
/** How often that is looked at of which the kernel does not tell, such as parameters; milliseconds. */
const UNTOLD_PERIOD = 2_000;
/** The least time between two repairs, so that a fight with somebody else does not take all of the machine. */
const REPAIR_PAUSE = 200;
/** How long to wait after something failed as a whole; milliseconds. */
const AFTER_ERROR = 2_000;

/** What a pool is taken for that is not known (yet): a pod keeps its MTU, so rather too little than too much. */
const UNKNOWN_POOL = { encapsulation: 'always', overlay: 'vxlan' } as const;

class NodeRouter implements Router {
  readonly #options: RouterOptions;
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  readonly #known = Promise.withResolvers<void>();
  readonly #calculator: Calculator;
  readonly #reconciler: Reconciler;
  readonly #feed: Feed;
  readonly #lastChange = new Map<string, number>();
  readonly #drift = new Set<Kind>();
  readonly #problems: Problems;
  readonly #tunnel: TunnelKeeper;
  /** The node has joined by what it saw then; what came before the kernel was watched nobody tells. */
  #mayHaveMoved = true;
  #resyncAt = 0;
  #untoldAt = 0;
  #repairAt = 0;
  /** Whether there were members of which nothing is known, whose routes may be those that nobody wants. */
  #wasHolding = false;
  #lastResync: number | undefined;
  #isWoken = true;
  #stopWaiting: () => void = () => {};
  #waiting: { readonly resolve: () => void }[] = [];
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: RouterOptions) {
    const { membership, session, store, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#calculator = new Calculator({ record: membership.record, underlay: membership.underlay });
    this.#reconciler = new Reconciler(
      session,
      clock,
      options.fillInChecksums ?? hasVxlanChecksumFault(release()),
    );
    this.#feed = new Feed({
      ...{
        store,
        clock,
        calculator: this.#calculator,
        signal: this.#ending.signal,
      },
      onNews: () => {
        const { isComplete, away, refused } = this.#feed;
        if (isComplete || away !== undefined || refused.size > 0) this.#known.resolve();
        this.#wake();
      },
      onPools: () => this.#tunnel.lookSoon(),
    });
    this.#problems = new Problems(
      clock,
      { failures: () => this.#reconciler.failures.list(), lasting: () => this.#lasting() },
      (event) => options.onEvent?.(event),
    );
    this.#tunnel = new TunnelKeeper({
      ...{ membership, clock, calculator: this.#calculator, problems: this.#problems },
      period: this.#resyncPeriod,
      signal: this.#ending.signal,
      isReady: () => this.#feed.isComplete,
      apply: () => this.resync(),
      onNews: () => this.#wake(),
    });
  }

  /** Ends when all of the store has been read once, or could not be. */
  get known(): Promise<void> {
    return this.#known.promise;
  }

  start(): void {
    const { session } = this.#options;
    const watching = watchKernel({
      ...{ session, reconciler: this.#reconciler, underlay: () => this.#calculator.own.underlay },
      onDrift: (kinds) => {
        for (const kind of kinds) this.#drift.add(kind);
        this.#wake();
      },
      onUnderlay: () => {
        this.#mayHaveMoved = true;
        this.#wake();
      },
    });
    this.#work = Promise.all([this.#feed.run(), this.#run(), this.#tunnel.run()]).finally(() =>
      watching[Symbol.dispose](),
    );
  }

  status(): RoutingStatus {
    return statusOf({
      ...{ calculator: this.#calculator, feed: this.#feed, lastChange: this.#lastChange },
      problems: this.#problems.list(),
      ...(this.#lastResync !== undefined && { lastResync: this.#lastResync }),
    });
  }

  resync(): Promise<void> {
    if (this.#ending.signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ resolve });
    this.#resyncAt = 0;
    this.#wake();
    return promise;
  }

  podMtu(...pools: readonly string[]): number {
    const { record } = this.#calculator.own;
    const mtus = pools.map((name) => podMtu(record, this.#calculator.pools.get(name) ?? UNKNOWN_POOL));
    return Math.min(record.mtu, ...mtus);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new Error('the router has ended'));
    // Those who keep its own addresses are among them, and their end is waited for.
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    await this.#work;
  }

  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await this.#pause();
      if (this.#ending.signal.aborted) return;
      try {
        await this.#step();
      } catch (error) {
        // Whatever was left undone is found by comparing everything, once the cause may have passed.
        this.#problems.add('kernel', error);
        this.#resyncAt = 0;
        await this.#clock.pause(AFTER_ERROR, this.#ending.signal).catch(() => {});
      }
      this.#problems.tell();
    }
  }

  async #step(): Promise<void> {
    if (this.#mayHaveMoved) await this.#lookAtUnderlay();
    if (!this.#feed.isComplete) return;
    const now = this.#clock.monotonic();
    const isHolding = this.#feed.hasUnknown;
    if (this.#wasHolding && !isHolding) this.#resyncAt = 0;
    this.#wasHolding = isHolding;
    const delta = this.#calculator.delta();
    for (const name of delta.nodes) this.#noteChange(name);
    // With a block of the node its tunnel address may have gone.
    if (delta.drop.some((object) => object.kind === 'route' && object.target.type === 'blackhole')) {
      this.#tunnel.lookSoon();
    }
    if (now >= this.#resyncAt || this.#reconciler.failures.nextRetry <= now) {
      this.#reconciler.note(delta);
      return this.#compare(KINDS, 'resync');
    }
    if (delta.put.length + delta.drop.length > 0) {
      this.#tellApplied(await this.#reconciler.apply(delta, isHolding), 'news');
    }
    if (this.#drift.size > 0 && now >= this.#repairAt) await this.#compare([...this.#drift], 'drift');
    if (now >= this.#untoldAt) {
      this.#untoldAt = now + UNTOLD_PERIOD;
      const untold = ['sysctl', ...untoldRules(this.#options.session)] as const;
      this.#tellApplied(await this.#reconciler.resync(untold), 'drift');
    }
  }

  async #compare(kinds: readonly Kind[], why: 'drift' | 'resync'): Promise<void> {
    // Taken before anything is sent: what others do meanwhile is looked at again.
    this.#drift.clear();
    // Who asks while changes are made has not been answered by comparing a part.
    const waiting = why === 'resync' ? this.#waiting.splice(0) : [];
    const now = this.#clock.monotonic();
    if (why === 'resync') this.#resyncAt = now + this.#resyncPeriod;
    this.#repairAt = now + REPAIR_PAUSE;
    try {
      this.#tellApplied(await this.#reconciler.resync(kinds, this.#wasHolding), why);
      this.#problems.solve('kernel');
      if (why === 'resync') this.#lastResync = this.#clock.now();
    } finally {
      for (const { resolve } of waiting) resolve();
    }
  }

  async #lookAtUnderlay(): Promise<void> {
    const { membership, session } = this.#options;
    this.#mayHaveMoved = false;
    try {
      const { underlay } = this.#calculator.own;
      const found = await findUnderlay(session, membership.underlayOptions, underlay);
      this.#problems.solve('underlay');
      if (sameUnderlay(found, underlay)) return;
      membership.announce({ underlay: found });
      this.#calculator.setOwn({ record: membership.record, underlay: found });
    } catch (error) {
      this.#mayHaveMoved = true;
      this.#problems.add('underlay', error);
    }
  }

  #noteChange(name: string): void {
    if (this.#calculator.nodes.has(name)) this.#lastChange.set(name, this.#clock.now());
    else this.#lastChange.delete(name);
  }

  #tellApplied(changes: number, why: 'news' | 'drift' | 'resync'): void {
    if (changes > 0) this.#options.onEvent?.({ kind: 'applied', changes, why });
  }

  /** What cannot succeed as pools and nodes are. */
  *#lasting(): Iterable<readonly [subject: string, reason: string]> {
    for (const [prefix, reason] of this.#feed.refused) yield [`store ${prefix}`, reason];
    for (const [key, reason] of this.#feed.faults) yield [`entry ${key}`, reason];
    yield* this.#calculator.faults;
  }

  /** Milliseconds. */
  get #resyncPeriod(): number {
    return (this.#options.resyncSeconds ?? RESYNC) * 1000;
  }

  /** Waits until there is something to do. */
  async #pause(): Promise<void> {
    const now = this.#clock.monotonic();
    const due = Math.min(
      ...[this.#resyncAt, this.#untoldAt, this.#reconciler.failures.nextRetry],
      this.#drift.size > 0 ? this.#repairAt : Number.POSITIVE_INFINITY,
    );
    const wait = this.#feed.isComplete ? Math.max(due - now, 0) : RESYNC * 1000;
    if (!this.#isWoken && wait > 0) {
      const early = new AbortController();
      this.#stopWaiting = () => early.abort();
      const signal = AbortSignal.any([early.signal, this.#ending.signal]);
      await this.#clock.pause(Math.ceil(wait), signal).catch(() => {});
    }
    this.#isWoken = false;
  }

  #wake(): void {
    this.#isWoken = true;
    this.#stopWaiting();
  }
}
