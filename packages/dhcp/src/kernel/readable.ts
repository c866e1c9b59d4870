/** Taking in what a socket has: bytes of strangers, and the kernel's own complaints. */
import { SysError } from '@heddle/sys';
import { type Codec, decode, WireError } from '@heddle/wire';
import type { Inbox } from '../client/inbox.ts';

/** Hands on a value, when the bytes hold one. What strangers send is often of no format. */
export function readable<T>(codec: Codec<T, never>, bytes: Uint8Array, use: (value: T) => void): void {
  let value: T;
  try {
    value = decode(codec, bytes);
  } catch (error) {
    if (error instanceof WireError) return;
    throw error;
  }
  use(value);
}

/** Takes in what there is. When the link goes down the socket says so, and whoever reads the inboxes hears it. */
export function unlessDown(take: () => void, inboxes: readonly Pick<Inbox<unknown>, 'fail'>[]): void {
  try {
    take();
  } catch (error) {
    if (!(error instanceof SysError)) throw error;
    for (const inbox of inboxes) inbox.fail(error);
  }
}
