/** Nodes that are gone: noticed by those that live, and after a grace relieved of what they had. */
import { createHash } from 'node:crypto';
import type { Member } from '@heddle/ipam/blocks';
import { type Followed, follow, put, StoreError } from '@heddle/store';
import type { Clock } from '../clock.ts';
import { removeGoneNode } from './nodes.ts';
import { memberCodec, NODE_KEYS } from './records.ts';

/** What a sweeper works with. */
export interface SweeperOptions {
  /** On whose behalf. */
  readonly member: Member;
  readonly graceSeconds: number;
  readonly clock: Clock;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Told when the own entry was written or deleted, by whomever. */
  readonly onOwnEntry: () => void;
  readonly onGone: (node: string) => void;
  readonly onRemoved: (node: string) => void;
  readonly onTrouble: (what: string, error: unknown) => void;
}

/**
 * How long a node is gone is measured by this node's own monotonic clock, from when it saw that, and anew after every
 * time that the store was away: nobody can come back to a store that does not answer. What others wrote about moments
 * is not used.
 *
 * Any node may do it. Who does it first follows from a hash, so that thousands do not do it at once.
 */
export class Sweeper {
  readonly #options: SweeperOptions;
  /** Living nodes, by the names of their keys. */
  readonly #alive = new Set<string>();
  /** Those that joined, and whether somebody noted that they are gone. */
  readonly #members = new Map<string, { readonly name: string; readonly noted: boolean }>();
  /** Since when nodes have been missing, in monotonic milliseconds. */
  readonly #missing = new Map<string, number>();
  /** How much of the store has been read. */
  readonly #known = new Set<string>();

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Runs until the signal aborts. @throws its reason then; {@link StoreError} for what waiting does not mend */
  async run(): Promise<void> {
    const { clock, graceSeconds } = this.#options;
    const stopping = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, stopping.signal]);
    this.#known.clear();
    this.#missing.clear();
    const tick = Math.min(TICK, graceSeconds * 250);
    const looking = async () => {
      for (;;) {
        await clock.pause(tick, signal);
        await this.#look();
      }
    };
    try {
      await Promise.all([
        this.#follow(NODE_KEYS.nodes, signal, (news) => this.#tellNodes(news)),
        this.#follow(NODE_KEYS.members, signal, (news) => this.#tellMembers(news)),
        looking(),
      ]);
    } finally {
      stopping.abort();
    }
  }

  async #follow(prefix: string, signal: AbortSignal, tell: (news: Followed) => void): Promise<void> {
    const { member, clock } = this.#options;
    const pause = (attempt: number) => clock.pause(Math.min(250 * 2 ** attempt, 5_000), signal);
    const troubled = () => this.#missing.clear();
    for await (const news of follow(member.store, prefix, { signal, pause, troubled })) {
      tell(news);
      this.#known.add(prefix);
    }
  }

  #tellNodes(news: Followed): void {
    if (news.kind === 'state') {
      this.#alive.clear();
      for (const { key } of news.entries) this.#alive.add(nameIn(key));
      this.#options.onOwnEntry();
      return;
    }
    for (const { kind, key } of news.events) {
      const name = nameIn(key);
      if (kind === 'put') this.#alive.add(name);
      else this.#alive.delete(name);
      if (name === this.#own) this.#options.onOwnEntry();
    }
  }

  #tellMembers(news: Followed): void {
    const entries = news.kind === 'state' ? news.entries : [];
    if (news.kind === 'state') this.#members.clear();
    for (const event of news.kind === 'changes' ? news.events : []) {
      if (event.kind === 'delete') this.#members.delete(nameIn(event.key));
      else this.#tellMember(event.entry);
    }
    for (const entry of entries) this.#tellMember(entry);
  }

  #tellMember(entry: { readonly key: string; readonly value: string }): void {
    try {
      const { name, gone } = memberCodec.decode(entry);
      this.#members.set(nameIn(entry.key), { name, noted: gone !== undefined });
    } catch (error) {
      this.#options.onTrouble(`read ${entry.key}`, error);
    }
  }

  async #look(): Promise<void> {
    if (this.#known.size < 2) return;
    const { clock, graceSeconds } = this.#options;
    for (const [key, { name, noted }] of this.#members) {
      if (key === this.#own || this.#alive.has(key)) {
        this.#missing.delete(key);
        continue;
      }
      const since = this.#missing.get(key) ?? clock.monotonic();
      this.#missing.set(key, since);
      const turn = this.#rankFor(key) * TURN;
      const elapsed = clock.monotonic() - since - turn;
      if (!noted && elapsed >= 0) await this.#note(name);
      if (elapsed >= graceSeconds * 1000) await this.#remove(key, name);
    }
    for (const key of this.#missing.keys()) if (!this.#members.has(key)) this.#missing.delete(key);
  }

  async #note(name: string): Promise<void> {
    const { member, clock } = this.#options;
    await this.#try(`note that node ${name} is gone`, async () => {
      const entry = await member.store.get(NODE_KEYS.member(name));
      if (entry === undefined) return;
      const record = memberCodec.decode(entry);
      if (record.gone !== undefined) return;
      const value = memberCodec.encode({ ...record, gone: clock.now() });
      await put(member.store, entry.key, value, { at: entry.revision });
      this.#options.onGone(name);
    });
  }

  async #remove(key: string, name: string): Promise<void> {
    const { member, clock } = this.#options;
    await this.#try(`remove node ${name}`, async () => {
      await removeGoneNode(member, name);
      this.#options.onRemoved(name);
    });
    // Whatever came of it: not again before another grace.
    this.#missing.set(key, clock.monotonic());
  }

  async #try(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (StoreError.is(error, 'STORE_UNAVAILABLE')) this.#missing.clear();
      if (!StoreError.is(error, 'STORE_CONFLICT')) this.#options.onTrouble(what, error);
    }
  }

  get #own(): string {
    return encodeURIComponent(this.#options.member.node);
  }

  /** How many living nodes come before this one in seeing to a node that is gone. */
  #rankFor(gone: string): number {
    const own = order(gone, this.#own);
    let rank = 0;
    for (const name of this.#alive) {
      if (name !== this.#own && order(gone, name) < own && ++rank === MOST_TURNS) break;
    }
    return rank;
  }
}

/** How often it is looked who is missing, in milliseconds. */
const TICK = 1_000;
/** How much later each next node does what the one before it did not, in milliseconds. */
const TURN = 2_000;
/** All who come later than this do it at the same time: by then something is wrong with many. */
const MOST_TURNS = 8;

function nameIn(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

function order(gone: string, node: string): string {
  return createHash('sha1').update(`${gone} ${node}`).digest('hex');
}
