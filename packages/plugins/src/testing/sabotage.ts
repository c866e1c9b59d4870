/** A kernel session that fails on demand, to see what an operation leaves when it fails at any of its steps. */
import { inspect } from 'node:util';
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
 * A sabotage for each request that an operation makes: do the operation once with each. The first sabotages nothing and
 * finds out what is asked; the others hit one request each, by its name. Where an operation waits for the kernel, it asks
 * more often at one time than at another: what comes later would be missed if requests were told apart by their place.
 * So a request may also not come up; then, too, the operation gets by, and `failed` is `undefined`.
 *
 * @example
 * for (const sabotage of everyRequest()) {
 *   const { exitCode } = await lab.run({ ...request, command: 'ADD', wrap: sabotage.wrap });
 * }
 */
export function* everyRequest(kind: SabotageKind = 'fails'): Generator<Sabotage, void, void> {
  // What is added while it is gone through is reached, too.
  const names = new Set(['nothing']);
  for (const name of names) {
    const sabotage = new Sabotage(name, kind);
    yield sabotage;
    for (const each of sabotage.seen) names.add(each);
  }
}

/**
 * Counts what is asked of the kernel through the sessions that it wraps, and sabotages one request.
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
  /** The names of the requests until then, such as `links.add 2` for the second of its kind. */
  readonly seen = new Set<string>();
  readonly #at: number | string;
  readonly #kind: SabotageKind;
  readonly #death = Promise.withResolvers<void>();
  readonly #times = new Map<string, number>();
  #last = '';

  /** @param at which request: by its place, which counts from 1 (0 sabotages nothing), or by its name (see {@link seen}) */
  constructor(at: number | string, kind: SabotageKind = 'fails') {
    this.#at = at;
    this.#kind = kind;
  }

  /** What was sabotaged, for messages. */
  toString(): string {
    const what = typeof this.#at === 'string' ? this.#at : `request ${this.#at}`;
    return `${what} ${this.failed === undefined ? 'did not come up' : this.#kind}`;
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
  readonly wrap = (session: KernelSession): KernelSession => {
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
  };

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
      if (this.failed === undefined && this.#isIt(what, args)) {
        this.failed = what;
        if (this.#kind === 'fails') throw new SabotageError(`${what}: sabotaged`);
        this.#death.resolve();
      }
      if (this.#kind === 'dies' && this.failed !== undefined) return new Promise(() => {});
      return method.apply(target, args);
    };
  }

  #isIt(what: string, args: readonly unknown[]): boolean {
    const words = `${what} ${inspect(args, { depth: Number.POSITIVE_INFINITY })}`;
    // Who asks the same again at once is waiting.
    if (words !== this.#last) this.#times.set(what, (this.#times.get(what) ?? 0) + 1);
    this.#last = words;
    const name = `${what} ${this.#times.get(what)}`;
    this.seen.add(name);
    return typeof this.#at === 'string' ? name === this.#at : this.asked === this.#at;
  }
}

type Method = (...args: never[]) => unknown;

function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}
