import type { NetnsHandle } from '@heddle/sys';

/**
 * A handle of a fake namespace: it can be the target of a change, be compared and be closed.
 *
 * It is no descriptor of this process, and its number none that the kernel gives out: whatever of `sys` it is
 * handed to fails with EBADF instead of touching a real namespace.
 */
export function fakeNetns(name: string, number: number): NetnsHandle {
  const key = `fake:${name}`;
  let closed = false;
  const handle = {
    get closed() {
      return closed;
    },
    number,
    key,
    dev: 0n,
    ino: BigInt(number),
    sameAs: (other: NetnsHandle) => other.key === key,
    close() {
      closed = true;
    },
    [Symbol.dispose]() {
      closed = true;
    },
  };
  // The class of real handles has private members, which no other object can have.
  return handle as unknown as NetnsHandle;
}
