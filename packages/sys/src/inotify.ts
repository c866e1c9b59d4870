/** inotify(7), drained by the caller when it wants to know, such as while it holds a lock. */
import { native } from './addon.ts';
import { Fd } from './fd.ts';
import { read } from './file.ts';

/** One `struct inotify_event`. */
export interface InotifyEvent {
  /** The watch it belongs to; -1 for `IN.Q_OVERFLOW`. */
  readonly wd: number;
  /** `IN.*` bits. */
  readonly mask: number;
  /** Equal in the two halves of a rename. */
  readonly cookie: number;
  /** The entry of the watched directory; empty when the watched file itself is meant. */
  readonly name: string;
}

/** A new, non-blocking inotify instance. */
export function inotifyCreate(): Fd {
  return new Fd(native().inotifyCreate());
}

/** Watches a file or directory for `IN.*` events; the same file gives the same watch. */
export function inotifyAdd(fd: Fd, path: string, mask: number): number {
  return native().inotifyAdd(fd.number, path, mask);
}

/** Ends a watch; the kernel then reports `IN.IGNORED`. */
export function inotifyRemove(fd: Fd, wd: number): void {
  native().inotifyRemove(fd.number, wd);
}

/** Everything that has happened until now. What another process did before this call is there. */
export function inotifyDrain(fd: Fd): InotifyEvent[] {
  const events: InotifyEvent[] = [];
  for (;;) {
    const bytes = read(fd, CHUNK);
    if (bytes === undefined || bytes.length === 0) return events;
    events.push(...decode(bytes));
  }
}

const CHUNK = 64 * 1024;
/** Four 32-bit fields stand before the name. */
const HEADER = 16;

function decode(bytes: Uint8Array): InotifyEvent[] {
  const events: InotifyEvent[] = [];
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  for (let offset = 0; offset + HEADER <= bytes.length; ) {
    const [wd = 0, mask = 0, cookie = 0, length = 0] = words.subarray(offset >> 2);
    const name = bytes.subarray(offset + HEADER, offset + HEADER + length);
    const end = name.indexOf(0);
    events.push({
      wd,
      mask: mask >>> 0,
      cookie: cookie >>> 0,
      name: new TextDecoder().decode(end < 0 ? name : name.subarray(0, end)),
    });
    offset += HEADER + length;
  }
  return events;
}
