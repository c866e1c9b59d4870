/** Random bytes, of which the system is asked for many at a time: a call wants six here and six there. */
import { getRandomValues } from 'node:crypto';
import type { Random } from '@heddle/cni/plugin';

/** See the file's comment. No byte is given out twice. */
export class RandomPool implements Random {
  readonly #pool = new Uint8Array(SIZE);
  #used = SIZE;

  bytes(count: number): Uint8Array {
    if (count > SIZE) return getRandomValues(new Uint8Array(count));
    if (this.#used + count > SIZE) {
      getRandomValues(this.#pool);
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += count;
    return this.#pool.slice(from, this.#used);
  }
}

const SIZE = 1024;
