/**
 * The socket that callers come to: systemd's, or one of our own at a path. A new agent puts its socket in the place of
 * an old one's, in one step; the old one then takes those who came before, and nobody else.
 */
import { chmodSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AF, bind, Fd, ioctl, listen, makeDirectory, SOCK, socket } from '@heddle/sys';
import { encode, u32 } from '@heddle/wire';
import { unixAddress } from './unix-address.ts';

/** A socket that listens. */
export interface Door extends Disposable {
  readonly listener: Fd;
  /** Where it is to be found; undefined for systemd's. */
  readonly path: string | undefined;
  /** Lets callers find it. */
  open(): void;
  /** Whether another agent has put its own in its place. */
  isReplaced(): boolean;
  /** Keeps further callers from finding it. Those who have come can still be taken. */
  hide(): void;
}

/**
 * Makes a socket for a path, for root only. Nobody finds it before it is opened.
 *
 * @throws {AgentError} AGENT_SOCKET when the path is too long
 */
export function ownDoor(path: string): Door {
  const draft = `${path}.${process.pid}`;
  makeDirectory(dirname(path), 0o700);
  rmSync(draft, { force: true });
  const listener = socket({ family: AF.UNIX, type: SOCK.STREAM, nonblocking: true });
  try {
    bind(listener, unixAddress(draft));
    chmodSync(draft, 0o600);
    listen(listener, BACKLOG);
  } catch (error) {
    listener.close();
    throw error;
  }
  const { ino } = statSync(draft);
  const inodeAt = (place: string) => statSync(place, { throwIfNoEntry: false })?.ino;
  return {
    ...{ listener, path },
    open: () => renameSync(draft, path),
    isReplaced: () => inodeAt(path) !== ino && inodeAt(path) !== undefined,
    hide() {
      for (const place of [draft, path]) if (inodeAt(place) === ino) rmSync(place, { force: true });
    },
    [Symbol.dispose]() {
      this.hide();
      listener.close();
    },
  };
}

/** Takes over a socket that systemd listens on — sd_listen_fds(3). */
export function handedDoor(descriptor: number): Door {
  const listener = new Fd(descriptor);
  // It is to be asked until nobody waits any more.
  ioctl(listener, FIONBIO, encode(u32, 1));
  return {
    ...{ listener, path: undefined },
    open() {},
    isReplaced: () => false,
    hide() {},
    [Symbol.dispose]: () => listener.close(),
  };
}

/** asm-generic/ioctls.h */
const FIONBIO = 0x5421;

/** How many callers may wait to be taken; the kernel's own limit (net.core.somaxconn) is below. */
const BACKLOG = 65_535;
