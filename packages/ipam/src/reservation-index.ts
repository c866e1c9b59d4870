/**
 * What a process that stays remembers of directories of reservations. The directory stays the truth: whatever anybody
 * does in it is told by inotify(7) before their call returns, so what is remembered is right once that has been heard,
 * under the lock, also when the reference's plugin allocates beside. Only on file systems that nobody else can write to
 * past this kernel is anything remembered.
 */
import { statSync } from 'node:fs';
import { Addr } from '@heddle/netaddr';
import { type Fd, IN, inotifyAdd, inotifyCreate, inotifyDrain, statfsMagic } from '@heddle/sys';
import type { Owner, Reservation } from './reservation.ts';

/** Indexes of directories, each made when it is first asked for. */
export class ReservationIndexes {
  readonly #indexes = new Map<string, ReservationIndex>();

  /** The index of a directory that exists. */
  of(directory: string): ReservationIndex {
    const index = this.#indexes.get(directory) ?? new ReservationIndex(directory);
    this.#indexes.set(directory, index);
    return index;
  }
}

/** The reservations of one directory, for whoever holds its lock. */
export class ReservationIndex {
  readonly #directory: string;
  #watch: Fd | undefined;
  /** Device and inode of what is watched. */
  #identity: string | undefined;
  #held: Map<string, Reservation> | undefined;
  #byContainer = new Map<string, Map<string, Reservation>>();
  readonly #own = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * All reservations by the text of their addresses.
   *
   * @param read reads the directory
   */
  held(read: () => readonly Reservation[]): ReadonlyMap<string, Reservation> {
    if (!this.#isWatching()) return keyed(read());
    this.#hear();
    if (this.#held === undefined) {
      // What is heard from here on is newer than what is read.
      const held = keyed(read());
      this.#held = held;
      this.#byContainer = new Map();
      for (const reservation of held.values()) this.#file(reservation);
    }
    return this.#held;
  }

  /** Those whose owner is the container, by whatever interface; to be asked after {@link held}. */
  ofContainer(containerID: string): readonly Reservation[] | undefined {
    if (this.#held === undefined) return undefined;
    return [...(this.#byContainer.get(containerID.trim())?.values() ?? [])];
  }

  /** The holder of the lock has reserved an address. */
  reserved(addr: Addr, owner: Owner): void {
    this.#own.add(addr.toString());
    const reservation = {
      addr,
      owner: { ...owner, containerID: owner.containerID.trim() },
      createdAt: Date.now(),
    };
    if (this.#held === undefined) return;
    this.#held.set(addr.toString(), reservation);
    this.#file(reservation);
  }

  /** The holder of the lock has released an address. */
  released(addr: Addr): void {
    const text = addr.toString();
    this.#own.add(text);
    const { owner } = this.#held?.get(text) ?? {};
    if (owner !== undefined) this.#byContainer.get(owner.containerID)?.delete(text);
    if (this.#byContainer.get(owner?.containerID ?? '')?.size === 0) {
      this.#byContainer.delete(owner?.containerID ?? '');
    }
    this.#held?.delete(text);
  }

  /** The lock is about to be given back: what was heard of one's own changes is nothing new. */
  settle(): void {
    if (this.#watch !== undefined && this.#own.size > 0) this.#hear(this.#own);
    this.#own.clear();
  }

  #file(reservation: Reservation): void {
    const id = reservation.owner?.containerID ?? '';
    const some = this.#byContainer.get(id) ?? new Map<string, Reservation>();
    this.#byContainer.set(id, some.set(reservation.addr.toString(), reservation));
  }

  /** Forgets everything when somebody else has changed a reservation. */
  #hear(known: ReadonlySet<string> = NONE): void {
    if (this.#watch === undefined) return;
    for (const { mask, name } of inotifyDrain(this.#watch)) {
      if ((mask & LOSS) !== 0) this.#forget();
      else if (!known.has(name) && Addr.tryParse(name) !== undefined) this.#held = undefined;
    }
  }

  #forget(): void {
    this.#held = undefined;
    this.#watch?.close();
    this.#watch = undefined;
  }

  /** Watches what the path names by now. */
  #isWatching(): boolean {
    const { dev, ino } = statSync(this.#directory, { bigint: true });
    const identity = `${dev}:${ino}`;
    if (this.#watch !== undefined && identity === this.#identity) return true;
    this.#forget();
    if (!LOCAL.has(statfsMagic(this.#directory))) return false;
    const watch = inotifyCreate();
    try {
      inotifyAdd(watch, this.#directory, EVENTS);
    } catch (error) {
      watch.close();
      throw error;
    }
    this.#watch = watch;
    this.#identity = identity;
    return true;
  }
}

function keyed(reservations: readonly Reservation[]): Map<string, Reservation> {
  return new Map(reservations.map((reservation) => [reservation.addr.toString(), reservation]));
}

const NONE: ReadonlySet<string> = new Set();
/** What happens to a directory's entries, and what ends the watch. */
const EVENTS =
  IN.CREATE | IN.DELETE | IN.MODIFY | IN.MOVED_FROM | IN.MOVED_TO | IN.DELETE_SELF | IN.MOVE_SELF;
const LOSS = IN.Q_OVERFLOW | IN.IGNORED | IN.DELETE_SELF | IN.MOVE_SELF | IN.UNMOUNT;
/** ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS — linux/magic.h */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1,
]);
