/** Keeps a node ahead of its need with blocks of its own, in the mode `cluster-pool`, beside the calls that take addresses. */
import type { Reserve } from '@heddle/ipam/blocks';

/** What is kept ahead, and how. */
export interface KeptAheadOptions {
  /** How far ahead the node is, where it remembers that. */
  readonly reserves: () => readonly Reserve[] | undefined;
  /** Claims what is missing. @returns how far it is then */
  readonly claim: () => Promise<readonly Reserve[]>;
  /** Told why it could not be done. */
  readonly onFailure: (error: unknown) => void;
  /** How long to wait after it could not be done, or the pools had not enough, in milliseconds. */
  readonly retry: number;
  /** Milliseconds since some moment; never goes back. */
  readonly monotonic: () => number;
}

/** See the file's comment. */
export class KeptAhead {
  readonly #options: KeptAheadOptions;
  #running: Promise<void> | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;
  #short: readonly Reserve[] = [];

  constructor(options: KeptAheadOptions) {
    this.#options = options;
  }

  /** The families whose pools have no more blocks for the node, as it was seen last. */
  get short(): readonly Reserve[] {
    return this.#short;
  }

  /** An address was taken: claims a block where one is missing by now. Nobody waits for it. */
  taken(): void {
    const { monotonic, reserves } = this.#options;
    if (this.#running !== undefined || monotonic() < this.#notBefore) return;
    const known = reserves();
    if (known === undefined || isBehind(known)) void this.look();
  }

  /** Looks at the store, and claims what is missing. */
  look(): Promise<void> {
    if (this.#notBefore === Number.POSITIVE_INFINITY) return Promise.resolve();
    this.#running ??= this.#claim().finally(() => {
      this.#running = undefined;
      // By what was taken meanwhile.
      if (isBehind(this.#options.reserves() ?? [])) this.taken();
    });
    return this.#running;
  }

  /** Claims nothing more, and ends when what was begun has. */
  async end(): Promise<void> {
    this.#notBefore = Number.POSITIVE_INFINITY;
    await this.#running;
  }

  async #claim(): Promise<void> {
    const { claim, onFailure, monotonic, retry } = this.#options;
    const later = () => {
      this.#notBefore = Math.max(this.#notBefore, monotonic() + retry);
    };
    try {
      this.#short = (await claim()).filter((reserve) => isBehind([reserve]));
      if (this.#short.length > 0) later();
    } catch (error) {
      later();
      onFailure(error);
    }
  }
}

function isBehind(reserves: readonly Reserve[]): boolean {
  return reserves.some(({ spare }) => spare < 0);
}
