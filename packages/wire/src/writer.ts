/**
 * A buffer that grows while a message is written. Space is handed out zeroed, so that padding and
 * absent fields need no write of their own.
 */
export class Writer {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  /** @param capacity bytes to start with */
  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(Math.max(capacity, 16));
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** The numbers of the message so far; valid until the next {@link reserve}. */
  get view(): DataView {
    return this.#view;
  }

  /** The bytes of the message so far; valid until the next {@link reserve}. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Appends `size` zero bytes and returns the offset of the first. */
  reserve(size: number): number {
    const at = this.#length;
    this.#length = at + size;
    if (this.#length > this.#bytes.length) this.#grow();
    return at;
  }

  /** Appends zero bytes until the length is a multiple of `boundary`. */
  align(boundary: number): void {
    const over = this.#length % boundary;
    if (over !== 0) this.reserve(boundary - over);
  }

  /** Appends a copy of `bytes`. */
  append(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Begins a new message in the same memory. */
  reset(): void {
    this.#bytes.fill(0, 0, this.#length);
    this.#length = 0;
  }

  /** The message where it lies: valid until something else is written. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The message, in memory of its own. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #grow(): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}
