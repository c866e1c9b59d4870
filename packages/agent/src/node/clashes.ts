/** Addresses that pods of this node use though somebody else has them: kept, and told, for as long as such a pod lives. */
import type { KernelSession } from '@heddle/netlink';
import { type Clash, clashesLeft } from './live-addresses.ts';

/** What somebody has to do about one. */
export const REMEDY = 'delete the pod, so that it is made anew with another address';

/** See the file's comment. */
export class Clashes {
  readonly #host: KernelSession;
  readonly #tell: (what: string, failure?: unknown) => void;
  #known: readonly Clash[] = [];

  constructor(host: KernelSession, tell: (what: string, failure?: unknown) => void) {
    this.#host = host;
    this.#tell = tell;
  }

  /** All there are, as somebody has just seen. */
  found(clashes: readonly Clash[]): void {
    this.#known = clashes;
    for (const { addr, pod, why } of clashes) this.#tell(`keep ${addr} for ${pod}`, `${why}; ${REMEDY}`);
  }

  /** In words, those that are left. */
  async left(): Promise<readonly string[]> {
    const before = this.#known;
    const left = await clashesLeft(before, this.#host);
    // Unless others have been found meanwhile.
    if (this.#known === before) {
      this.#known = left;
      if (before.length > 0 && left.length === 0)
        this.#tell('no pod uses an address any more that another one has');
    }
    return left.map(({ pod, addr, why }) => `${pod} uses ${addr}, but ${why}`);
  }
}
