/**
 * The files of one network while the lock is held. A reservation appears with all of its content or not at
 * all: it is written under a name of its own, then linked to the address's name. What a process that died in
 * between leaves is cleared away by the next one that holds the lock.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Addr } from '@heddle/netaddr';
import { IpamError } from './ipam-error.ts';
import type { Owner, Reservation } from './reservation.ts';
import type { ReservationIndex } from './reservation-index.ts';
import type { Ledger } from './store.ts';

/** The ledger of a directory whose lock the caller holds. */
export function fileLedger(
  directory: string,
  warn: (message: string) => void,
  index?: ReservationIndex,
): Ledger {
  const draft = `${directory}/${DRAFT}`;
  const fileOf = (addr: Addr) => `${directory}/${addr}`;
  const marker = (index: number) => `${directory}/last_reserved_ip.${index}`;

  // What the index has said holds until this ledger changes something, or its lock is given back.
  let known: ReadonlyMap<string, Reservation> | undefined;

  const ledger: Ledger = {
    list() {
      // Left by a process that died: whoever holds the lock is the only one with a draft.
      if (attempt(`clear ${directory}`, () => removed(draft))) {
        warn(`${directory}: removed an unfinished reservation`);
      }
      return readReservations(directory).filter(({ addr, owner }) => {
        if (owner !== undefined) return true;
        attempt(`reclaim ${addr} in ${directory}`, () => removed(fileOf(addr)));
        warn(`${directory}: reclaimed ${addr}, whose reservation names no owner`);
        return false;
      });
    },
    held() {
      const read = () => ledger.list();
      if (index !== undefined) {
        known ??= attempt(`watch ${directory}`, () => index.held(read));
        return known;
      }
      return new Map(read().map((reservation) => [reservation.addr.toString(), reservation]));
    },
    ofContainer(containerID) {
      const held = ledger.held();
      const isOwn = ({ owner }: Reservation) => owner?.containerID === containerID.trim();
      return index?.ofContainer(containerID) ?? [...held.values()].filter(isOwn);
    },
    reserve(addr, owner) {
      known = undefined;
      return attempt(`reserve ${addr} in ${directory}`, () => {
        try {
          writeNew(draft, encode(owner));
          const isNew = linked(draft, fileOf(addr));
          if (isNew) index?.reserved(addr, owner);
          return isNew;
        } finally {
          removed(draft);
        }
      });
    },
    release(addr) {
      known = undefined;
      return attempt(`release ${addr} in ${directory}`, () => {
        const isGone = removed(fileOf(addr));
        index?.released(addr);
        return isGone;
      });
    },
    lastReserved: (set) =>
      attempt(`read ${marker(set)}`, () => Addr.tryParse(readIfThere(marker(set))?.trim() ?? '')),
    remember(set, addr) {
      try {
        if (overwritten(marker(set), addr.toString())) return;
        writeNew(draft, addr.toString());
        renameSync(draft, marker(set));
      } catch (error) {
        removed(draft);
        warn(`${marker(set)}: ${textOf(error)}; the next search begins where the last one did`);
      }
    },
  };
  return ledger;
}

/** The reservations of a directory, in no order; none when there is no directory. Only files are any. */
export function readReservations(directory: string): readonly Reservation[] {
  return attempt(`list reservations in ${directory}`, () =>
    namesIn(directory).flatMap((name) => {
      const addr = Addr.tryParse(name);
      const reservation = addr === undefined ? undefined : read(join(directory, name), addr);
      return reservation === undefined ? [] : [reservation];
    }),
  );
}

/** Runs a step on files and says what it was for when it fails. */
export function attempt<T>(what: string, step: () => T): T {
  try {
    return step();
  } catch (cause) {
    throw new IpamError('IPAM_STORE', `${what}: ${textOf(cause)}`, { cause });
  }
}

const DRAFT = '.heddle-draft';

function read(path: string, addr: Addr): Reservation | undefined {
  return ifThere(() => {
    // A pipe would wait for a writer.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!fstatSync(fd).isFile()) return undefined;
      const owner = decode(readFileSync(fd, 'utf8'));
      return { addr, ...(owner !== undefined && { owner }), createdAt: fstatSync(fd).mtimeMs };
    } finally {
      closeSync(fd);
    }
  });
}

function encode({ containerID, ifName }: Owner): string {
  const id = containerID.trim();
  return ifName === undefined ? id : `${id}\r\n${ifName}`;
}

function decode(content: string): Owner | undefined {
  const text = content.trim();
  if (text === '') return undefined;
  const at = text.indexOf('\r\n');
  return at < 0 ? { containerID: text } : { containerID: text.slice(0, at), ifName: text.slice(at + 2) };
}

function writeNew(path: string, content: string): void {
  const write = () => writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
  try {
    write();
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    // Never truncate what is there: a draft may be the second name of a reservation that was just linked.
    removed(path);
    write();
  }
}

/**
 * Puts a short text into a file that is there. Putting another file in its place would have ext4 write that out first,
 * for milliseconds; a marker that is cut short by a crash, on the other hand, only has the search begin elsewhere.
 */
function overwritten(path: string, content: string): boolean {
  const done = ifThere(() => {
    const fd = openSync(path, constants.O_WRONLY);
    try {
      ftruncateSync(fd, writeSync(fd, content, 0));
    } finally {
      closeSync(fd);
    }
    return true;
  });
  return done ?? false;
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function removed(path: string): boolean {
  const done = ifThere(() => {
    unlinkSync(path);
    return true;
  });
  return done ?? false;
}

function namesIn(directory: string): readonly string[] {
  return ifThere(() => readdirSync(directory)) ?? [];
}

function readIfThere(path: string): string | undefined {
  return ifThere(() => readFileSync(path, 'utf8'));
}

/** What a step gives, or `undefined` when the file it is about does not exist. */
function ifThere<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function errnoOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
