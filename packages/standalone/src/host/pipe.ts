/** Our end of a pipe to or from a child. */
import { type Fd, watch } from '@heddle/sys';
import { Emitter } from './emitter.ts';
import { setTimer } from './timers.ts';

/** Emits `data` with what is read, and `error` when it cannot be written to. */
export class Pipe extends Emitter {
  #fd: Fd | undefined;

  writeTo(fd: Fd): void {
    this.#fd = fd;
  }

  /** Reads to the end; the promise is fulfilled then. */
  readFrom(fd: Fd): Promise<void> {
    return new Promise((resolve) => {
      watch(fd, () => {
        const bytes = new Uint8Array(CHUNK);
        const size = host.read(fd.number, bytes, 0, CHUNK, -1);
        if (size > 0) return this.emit('data', bytes.subarray(0, size));
        fd.close();
        resolve();
      });
    });
  }

  /** Writes the last text and closes. */
  end(text: string): void {
    this.#write(host.encode(text));
  }

  #write(bytes: Uint8Array): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    let left = bytes;
    try {
      while (left.length > 0) left = left.subarray(host.write(fd.number, left, 0, left.length, -1));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
        setTimer(() => this.#write(left), 2);
        return;
      }
      fd.close();
      this.emit('error', error);
      return;
    }
    fd.close();
  }
}

const CHUNK = 64 * 1024;
