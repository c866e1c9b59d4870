/** A kernel session that fails on demand, to see what an operation leaves when it fails at any of its steps. */
import { HeddleError } from '@heddle/errors';
import type { KernelSession } from '@heddle/netlink';

/** The failure that a {@link Sabotage} causes. */
export class SabotageError extends HeddleError {
  override readonly code = 'SABOTAGE';
}

/**
 * Counts what is asked of the kernel through the sessions that it wraps, and makes the n-th request fail. All
 * others work, those of the undoing included.
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

  /** @param at counts from 1; 0 never fails */
  constructor(at: number) {
    this.#at = at;
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
    ]);
    return new Proxy(session, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'batch' && isMethod(value)) return this.#watched('batch', target, value);
        if (typeof name !== 'string' || !facets.has(name)) {
          return isMethod(value) ? value.bind(target) : value;
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
        throw new SabotageError(`${what}: sabotaged`);
      }
      return method.apply(target, args);
    };
  }
}

type Method = (...args: never[]) => unknown;

function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}
