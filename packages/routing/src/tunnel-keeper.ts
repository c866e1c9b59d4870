/** Keeps the addresses of a node's tunnels, which the pools ask for: in the store's own time, which nothing else waits for. */
import type { Calculator } from './calculate/calculator.ts';
import type { Clock } from './clock.ts';
import type { Membership } from './cluster/membership.ts';
import { takeTunnelAddresses } from './cluster/tunnel.ts';
import type { Problems } from './problems.ts';

/** What the addresses are kept with. */
export interface TunnelKeeperOptions {
  readonly membership: Membership;
  readonly calculator: Calculator;
  readonly clock: Clock;
  readonly problems: Problems;
  /** Milliseconds between two looks. */
  readonly period: number;
  /** Whether pools are known. */
  readonly isReady: () => boolean;
  /** Makes the kernel as it is calculated. */
  readonly apply: () => Promise<void>;
  /** Something else is to be calculated from. */
  readonly onNews: () => void;
  readonly signal: AbortSignal;
}

const STEP = 100;
const RETRY = 5_000;

/** See the file's comment. */
export class TunnelKeeper {
  readonly #options: TunnelKeeperOptions;
  #lookAt = 0;

  constructor(options: TunnelKeeperOptions) {
    this.#options = options;
  }

  /** The addresses may be others now: pools have changed, or a block has gone. */
  lookSoon(): void {
    this.#lookAt = 0;
  }

  /** Until the signal. */
  async run(): Promise<void> {
    const { signal, clock, problems, period, isReady } = this.#options;
    while (!signal.aborted) {
      await clock.pause(STEP, signal).catch(() => {});
      if (signal.aborted || !isReady() || clock.monotonic() < this.#lookAt) continue;
      this.#lookAt = clock.monotonic() + period;
      try {
        await this.#look();
      } catch (error) {
        problems.add(SUBJECT, error);
        this.#lookAt = clock.monotonic() + RETRY;
      }
    }
  }

  async #look(): Promise<void> {
    const { membership, calculator, problems, apply, onNews, signal } = this.#options;
    const addresses = await takeTunnelAddresses(membership.member, calculator.pools.values());
    problems.solve(SUBJECT);
    const { tunnel } = membership.record;
    if (String(addresses) === String(tunnel.addresses)) return;
    const announced = { ...tunnel, addresses };
    calculator.setOwn({ ...calculator.own, record: { ...membership.record, tunnel: announced } });
    // Others send to a tunnel address as soon as they know of it: its device is there by then.
    await apply();
    if (signal.aborted) return;
    membership.announce({ tunnel: announced });
    // What else of the node has changed meanwhile was put in without them.
    calculator.setOwn({ ...calculator.own, record: membership.record });
    onNews();
  }
}

const SUBJECT = 'tunnel addresses';
