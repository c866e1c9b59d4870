/**
 * A deterministic scheduler: any number of tasks work on one store in memory, and which of their calls is served
 * next, which fails, and how time passes depend on nothing but a number.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { MemoryDatabase, type Time } from './memory-database.ts';
import { openMemory, type StoreCall } from './memory-store.ts';

/** How often calls fail, as probabilities. */
export interface Faults {
  /** The store does not get the call. */
  readonly refuse: number;
  /** The store does as it is told, but the answer is lost. */
  readonly loseAnswer: number;
}

/** What a simulation is like. */
export interface SimulationOptions {
  /** The number that everything follows from. */
  readonly seed: number;
  /** The longest time between two calls that are served, in milliseconds. */
  readonly pace?: number;
  readonly history?: number;
}

/** One process among those that use the store. */
export interface SimulatedClient {
  readonly store: Store;
  /** May be changed at any time. */
  faults: Faults;
  /** Ends the process: calls under way may have been served or not, and none of them ever returns. */
  crash(): void;
}

interface Waiting {
  readonly client: Client;
  serve(): void;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * See the file's comment.
 *
 * @example
 * const simulation = new Simulation({ seed: 7 });
 * const [a, b] = [simulation.client(), simulation.client()];
 * await simulation.run(Promise.all([work(a.store), work(b.store)]));
 */
export class Simulation implements Time {
  readonly database: MemoryDatabase;
  readonly #pace: number;
  readonly #waiting: Waiting[] = [];
  #sleepers: Sleeper[] = [];
  #state: number;
  #now = 0;
  #served = 0;

  constructor({ seed, pace = 10, history }: SimulationOptions) {
    this.#state = seed >>> 0;
    this.#pace = pace;
    this.database = new MemoryDatabase({ time: this, ...(history !== undefined && { history }) });
  }

  /** How many calls have been served, failed ones included. */
  get served(): number {
    return this.#served;
  }

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): void {
    this.#sleepers.push({ at: this.#now + milliseconds, wake: run });
  }

  /** Resolves when so much simulated time has passed. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  /** The next number from 0 up to, but not including, 1: the only chance that a test may use. */
  random(): number {
    // Mulberry32: 32 bits of state, and good enough to choose by.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A process that uses the store. */
  client(faults: Faults = NO_FAULTS): SimulatedClient {
    return new Client(this.database, faults, {
      wait: (waiting) => this.#waiting.push(waiting),
      forget: (client) => {
        const others = this.#waiting.filter((waiting) => waiting.client !== client);
        this.#waiting.splice(0, Infinity, ...others);
      },
      random: () => this.random(),
    });
  }

  /** Serves calls and lets time pass until the promise is settled. @throws {Error} when nothing can settle it */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    for (;;) {
      await turn();
      if (settled) return promise;
      if (!this.#step()) throw new Error(`nobody waits for anything at ${this.#now} ms`);
    }
  }

  #step(): boolean {
    if (this.#waiting.length === 0) return this.#skipToNextSleeper();
    this.#passTo(this.#now + Math.floor(this.random() * this.#pace));
    const [next] = this.#waiting.splice(Math.floor(this.random() * this.#waiting.length), 1);
    this.#served++;
    next?.serve();
    return true;
  }

  #skipToNextSleeper(): boolean {
    const first = this.#sleepers.reduce((least, { at }) => Math.min(least, at), Infinity);
    if (first === Infinity) return false;
    this.#passTo(Math.max(first, this.#now));
    return true;
  }

  #passTo(moment: number): void {
    this.#now = moment;
    const due = this.#sleepers.filter(({ at }) => at <= moment);
    if (due.length === 0) return;
    this.#sleepers = this.#sleepers.filter(({ at }) => at > moment);
    for (const { wake } of due) wake();
  }
}

interface Scheduler {
  wait(waiting: Waiting): void;
  forget(client: Client): void;
  random(): number;
}

class Client implements SimulatedClient {
  readonly store: Store;
  readonly #scheduler: Scheduler;
  faults: Faults;
  #crashed = false;

  constructor(database: MemoryDatabase, faults: Faults, scheduler: Scheduler) {
    this.faults = faults;
    this.#scheduler = scheduler;
    this.store = openMemory(database, (call, run) => this.#wait(call, run));
  }

  crash(): void {
    this.#crashed = true;
    this.#scheduler.forget(this);
  }

  #wait<T>(call: StoreCall, run: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const serve = () => {
      try {
        resolve(this.#serve(call, run));
      } catch (error) {
        reject(error);
      }
    };
    if (!this.#crashed) this.#scheduler.wait({ client: this, serve });
    return promise;
  }

  #serve<T>(call: StoreCall, run: () => T): T {
    const chance = this.#scheduler.random();
    const { refuse, loseAnswer } = this.faults;
    if (chance < refuse) throw new StoreError('STORE_UNAVAILABLE', `${call}: the simulated store is away`);
    const answer = run();
    if (chance >= refuse + loseAnswer) return answer;
    throw new StoreError('STORE_UNAVAILABLE', `${call}: the simulated store's answer was lost`, {
      mayHaveHappened: true,
    });
  }
}

const NO_FAULTS: Faults = { refuse: 0, loseAnswer: 0 };
