import { NETLINK } from '../../core/header.ts';
import type { Reply } from '../../core/message.ts';
import { type EventGroup, GROUPS, netfilterEventOf, routeEventOf } from '../../session/events.ts';
import type { SubscribeOptions, Subscription } from '../../session/subscription.ts';
import type { Machine } from './machine.ts';

/** The multicast groups of a namespace. Messages come in the order of the changes, when the change is over. */
export class Notifier {
  readonly #machine: Pick<Machine, 'later'>;
  readonly #listeners = new Set<SubscribeOptions>();

  constructor(machine: Pick<Machine, 'later'>) {
    this.#machine = machine;
  }

  /** Listens from now on. */
  subscribe(options: SubscribeOptions): Subscription {
    // A copy, so that the same options may be given twice.
    const listener = { ...options };
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Tells those who listen to a group. */
  publish(group: EventGroup, message: Reply): void {
    const eventOf = GROUPS[group].protocol === NETLINK.ROUTE ? routeEventOf : netfilterEventOf;
    for (const listener of this.#listeners) {
      if (!listener.groups.includes(group)) continue;
      this.#deliver(listener, () => {
        const event = eventOf(message);
        if (event !== undefined) listener.onEvent(event);
      });
    }
  }

  /** Makes everybody miss something, as a full receive buffer does. */
  overrun(): void {
    for (const listener of this.#listeners) this.#deliver(listener, listener.onResync);
  }

  #deliver(listener: SubscribeOptions, tell: () => void): void {
    this.#machine.later(() => {
      if (this.#listeners.has(listener)) tell();
    });
  }
}
