/** A kernel session that fails on demand, to see what an operation leaves when it fails at any of its steps. */
import { HeddleError } from '@heddle/errors';
import type { KernelSession } from '@heddle/netlink';

/** The failure that a {@link Sabotage} causes. */
export class SabotageError extends HeddleError {
  override readonly code = 'SABOTAGE';
}

/**
 * How an operation ends: it `fails` at the request, with all requests after it working, those of the undoing
 * included; or it `dies` there, as a process does that is killed: the request and all after it never return.
 */
export type SabotageKind = 'fails' | 'dies';

/**
 * Counts what is asked of the kernel through the sessions that it wraps, and sabotages the n-th request.
 *
 * @example
 * const sabotage = new Sabotage(3);
 * const session = sabotage.wrap(openSession({ netns }));
 */
export class Sabotage {
  /** How often the kernel was asked. */
  asked = 0;
  /** What was asked when it failed, such as `links.add`. */
  failed: string | undefined;
  readonly #at: number;
  readonly #kind: SabotageKind;
  readonly #death = Promise.withResolvers<void>();

  /** @param at counts from 1; 0 sabotages nothing */
  constructor(at: number, kind: SabotageKind = 'fails') {
    this.#at = at;
    this.#kind = kind;
  }

  /**
   * Waits for an operation to end.
   *
   * @returns what it gives, or `undefined` when it died
   */
  outcome<T>(operation: Promise<T>): Promise<T | undefined> {
    return Promise.race([operation, this.#death.promise.then(() => undefined)]);
  }

  /** The same session, watched. */
  wrap(session: KernelSession): KernelSession {
    const facets = new Set([
      'links',
      'addresses',
      'routes',
      'rules',
      'neighbours',
      'bridge',
      'nft',
      'sysctl',
      'packets',
      'qdiscs',
      'classes',
      'filters',
      'conntrack',
    ]);
    return new Proxy(session, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if ((name === 'batch' || name === 'together') && isMethod(value))
          return this.#watched(name, target, value);
        if (typeof name !== 'string' || !facets.has(name)) {
          // Not bind(): this V8 takes no bound function for the disposal of a `using`.
          return isMethod(value) ? (...args: unknown[]) => Reflect.apply(value, target, args) : value;
        }
        return this.#facet(name, value as object);
      },
    });
  }

  #facet(facet: string, object: object): object {
    return new Proxy(object, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (!isMethod(value) || typeof name !== 'string') return value;
        return this.#watched(`${facet}.${name}`, target, value);
      },
    });
  }

  #watched(what: string, target: object, method: Method) {
    return async (...args: never[]): Promise<unknown> => {
      this.asked++;
      if (this.asked === this.#at) {
        this.failed = what;
        if (this.#kind === 'fails') throw new SabotageError(`${what}: sabotaged`);
        this.#death.resolve();
      }
      if (this.#kind === 'dies' && this.failed !== undefined) return new Promise(() => {});
      return method.apply(target, args);
    };
  }
}

type Method = (...args: never[]) => unknown;

function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}
