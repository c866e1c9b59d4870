/** What the store says, followed into the calculation. */
import { affinityCodec, blockCodec, KEYS, poolCodec } from '@heddle/ipam/blocks';
import { type Entry, type Followed, follow, type Store, type ValueCodec } from '@heddle/store';
import { borrowedIn } from './calculate/borrowed.ts';
import type { Calculator } from './calculate/calculator.ts';
import type { Clock } from './clock.ts';
import { NODE_KEYS, nodeCodec } from './cluster/records.ts';

/** From one attempt to follow what cannot be followed to the next; milliseconds. */
const REFUSED_PERIOD = 5_000;

/** What a feed works with. */
export interface FeedOptions {
  readonly store: Store;
  readonly calculator: Calculator;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called when something is new. */
  readonly onNews: () => void;
  /** Called when pools changed. */
  readonly onPools: () => void;
}

/** One prefix of the store, and what becomes of its entries. */
interface Source {
  readonly prefix: string;
  /** Without an entry: it is gone. */
  readonly tell: (key: string, entry: Entry | undefined) => void;
}

/**
 * See the file's comment.
 *
 * A node whose entry is missing keeps its routes until it has left or is removed: it may only be cut off from the store,
 * and its pods be well.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #known = new Map<string, Set<string>>();
  readonly #members = new Set<string>();
  /** Missing nodes that keep their routes. */
  readonly #held = new Set<string>();
  readonly #faults = new Map<string, string>();
  readonly #refused = new Map<string, string>();
  #away: { readonly since: number; readonly reason: string } | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Whether all that the calculation needs has been read. */
  get isComplete(): boolean {
    return this.#known.size === this.#sources.length;
  }

  /** Whether there are members of which nothing is known: they were missing already when all of it was read. */
  get hasUnknown(): boolean {
    return this.#members.size > this.#options.calculator.nodes.size + 1;
  }

  /** Since when and why the store is not followed. */
  get away(): { readonly since: number; readonly reason: string } | undefined {
    return this.#away;
  }

  /** Entries that cannot be read: key → why. */
  get faults(): ReadonlyMap<string, string> {
    return this.#faults;
  }

  /** What cannot be followed, for a reason that waiting alone does not mend: prefix → why. It is tried again all the same. */
  get refused(): ReadonlyMap<string, string> {
    return this.#refused;
  }

  isHeld(node: string): boolean {
    return this.#held.has(node);
  }

  /** Follows until the signal aborts. */
  async run(): Promise<void> {
    await Promise.all(this.#sources.map((source) => this.#follow(source)));
  }

  readonly #sources: readonly Source[] = [
    { prefix: NODE_KEYS.members, tell: (key, entry) => this.#tellMember(key, entry) },
    { prefix: NODE_KEYS.nodes, tell: (key, entry) => this.#tellNode(key, entry) },
    {
      prefix: KEYS.pools,
      tell: (key, entry) => {
        this.#decoded(poolCodec, key, entry, (pool) => this.#options.calculator.setPool(nameIn(key), pool));
        this.#options.onPools();
      },
    },
    {
      prefix: KEYS.affinities,
      tell: (key, entry) =>
        this.#decoded(affinityCodec, key, entry, (affinity) =>
          this.#options.calculator.setAffinity(key, affinity),
        ),
    },
    {
      prefix: KEYS.blocks,
      tell: (key, entry) =>
        this.#decoded(blockCodec, key, entry, (block) =>
          this.#options.calculator.setBorrowed(key, block === undefined ? [] : borrowedIn(block)),
        ),
    },
  ];

  /** Each by itself: what cannot be read keeps nobody from the rest. */
  async #follow(source: Source): Promise<void> {
    const { signal, clock, onNews } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#followOnce(source);
      } catch (error) {
        if (signal.aborted) return;
        this.#refused.set(source.prefix, error instanceof Error ? error.message : String(error));
        onNews();
        await clock.pause(REFUSED_PERIOD, signal).catch(() => {});
      }
    }
  }

  async #followOnce({ prefix, tell }: Source): Promise<void> {
    const { store, signal, clock, onNews } = this.#options;
    const pause = (attempt: number) => clock.pause(Math.min(250 * 2 ** attempt, 5_000), signal);
    const troubled = (error: Error) => {
      this.#away ??= { since: clock.now(), reason: error.message };
      onNews();
    };
    for await (const news of follow(store, prefix, { signal, pause, troubled })) {
      this.#away = undefined;
      this.#refused.delete(prefix);
      this.#tell(prefix, tell, news);
      onNews();
    }
  }

  #tell(prefix: string, tell: Source['tell'], news: Followed): void {
    const known = this.#known.get(prefix) ?? new Set();
    this.#known.set(prefix, known);
    if (news.kind === 'state') {
      const gone = new Set(known);
      for (const entry of news.entries) {
        gone.delete(entry.key);
        known.add(entry.key);
        tell(entry.key, entry);
      }
      for (const key of gone) {
        known.delete(key);
        tell(key, undefined);
      }
      return;
    }
    for (const event of news.events) {
      if (event.kind === 'put') known.add(event.key);
      else known.delete(event.key);
      tell(event.key, event.kind === 'put' ? event.entry : undefined);
    }
  }

  #tellNode(key: string, entry: Entry | undefined): void {
    const { calculator } = this.#options;
    const name = nameIn(key);
    if (entry === undefined) {
      if (!calculator.nodes.has(name)) return;
      if (this.#members.has(name)) this.#held.add(name);
      else calculator.setNode(name, undefined);
      return;
    }
    this.#decoded(nodeCodec, key, entry, (record) => {
      this.#held.delete(name);
      calculator.setNode(name, record);
    });
  }

  #tellMember(key: string, entry: Entry | undefined): void {
    const name = nameIn(key);
    if (entry !== undefined) this.#members.add(name);
    else {
      this.#members.delete(name);
      if (this.#held.delete(name)) this.#options.calculator.setNode(name, undefined);
    }
  }

  /** What cannot be read changes nothing: what was known of it before still is the best that is known. */
  #decoded<T>(
    codec: ValueCodec<T>,
    key: string,
    entry: Entry | undefined,
    tell: (value: T | undefined) => void,
  ): void {
    try {
      const value = entry && codec.decode(entry);
      this.#faults.delete(key);
      tell(value);
    } catch (error) {
      this.#faults.set(key, error instanceof Error ? error.message : String(error));
    }
  }
}

function nameIn(key: string): string {
  return decodeURIComponent(key.slice(key.lastIndexOf('/') + 1));
}
