/** How many bytes of unfinished requests the agent holds, of all clients together. */
export class Budget {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes so many bytes, unless that would be too many. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#most) return false;
    this.#taken += bytes;
    return true;
  }

  /** Gives bytes back. */
  give(bytes: number): void {
    this.#taken -= bytes;
  }
}
