/**
 * A buffer that grows while a message is written. Space is handed out zeroed, so that padding and
 * absent fields need no write of their own. What it has so far are plain members, not accessors: every number of every
 * message reads them.
 */
export class Writer {
  /** Bytes written so far. Only the writer changes it. */
  length = 0;
  /** The bytes of the message so far; valid until the next {@link reserve}. */
  bytes: Uint8Array;
  /** The numbers of the message so far; valid until the next {@link reserve}. */
  view: DataView;

  /** @param capacity bytes to start with */
  constructor(capacity = 256) {
    this.bytes = new Uint8Array(Math.max(capacity, 16));
    this.view = new DataView(this.bytes.buffer);
  }

  /** Appends `size` zero bytes and returns the offset of the first. */
  reserve(size: number): number {
    const at = this.length;
    const end = at + size;
    this.length = end;
    if (end > this.bytes.length) this.#grow();
    return at;
  }

  /** Appends zero bytes until the length is a multiple of `boundary`. */
  align(boundary: number): void {
    const over = this.length % boundary;
    if (over !== 0) this.reserve(boundary - over);
  }

  /** Appends a copy of `bytes`. */
  append(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length);
    this.bytes.set(bytes, at);
  }

  /** Begins a new message in the same memory. */
  reset(): void {
    this.bytes.fill(0, 0, this.length);
    this.length = 0;
  }

  /** The message where it lies: valid until something else is written. */
  get written(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** The message, in memory of its own. */
  finish(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }

  #grow(): void {
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length));
    larger.set(this.bytes);
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }
}
