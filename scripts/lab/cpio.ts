/** The archive format of an initramfs: cpio "newc" (Documentation/driver-api/early-userspace/buffer-format.rst). */

/** A member of an archive. Folders come before what is in them. */
export interface CpioEntry {
  /** Without a leading slash. */
  readonly name: string;
  /** File type and permissions, as in `st_mode`. */
  readonly mode: number;
  readonly content?: Uint8Array;
  /** Major and minor number of a device. */
  readonly device?: readonly [major: number, minor: number];
}

/** File types in {@link CpioEntry.mode}. */
export const FILE = 0o100000;
/** See {@link FILE}. */
export const DIRECTORY = 0o040000;
/** See {@link FILE}. */
export const CHARACTER_DEVICE = 0o020000;

/** The archive of these members. */
export function cpio(entries: readonly CpioEntry[]): Uint8Array {
  const members = [...entries, { name: 'TRAILER!!!', mode: 0 }];
  return Buffer.concat(members.flatMap((entry, index) => member(entry, index + 1)));
}

function member({ name, mode, content, device }: CpioEntry, inode: number): readonly Uint8Array[] {
  const path = Buffer.from(`${name}\0`);
  const data = content ?? new Uint8Array();
  const numbers = [inode, mode, 0, 0, 1, 0, data.length, 0, 0, ...(device ?? [0, 0]), path.length, 0];
  const head = Buffer.from(`070701${numbers.map((number) => number.toString(16).padStart(8, '0')).join('')}`);
  return [head, path, padding(head.length + path.length), data, padding(data.length)];
}

function padding(length: number): Uint8Array {
  return new Uint8Array(-length & 3);
}
