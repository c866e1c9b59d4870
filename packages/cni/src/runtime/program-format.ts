/**
 * Whether a program is in a format that this machine can start, told from its first bytes: a script, or an
 * ELF file for this processor (elf(5)).
 */
import { closeSync, openSync, readSync } from 'node:fs';

/** Why a program will probably not start. */
export interface FormatProblem {
  /**
   * `foreign`: for another processor; starts all the same where the kernel has been told how (binfmt_misc).
   * `none`: no program at all.
   */
  readonly kind: 'foreign' | 'none';
  /** In words that follow "is". */
  readonly words: string;
}

/**
 * What is wrong with a program's format; `undefined` when nothing is, or when it cannot be read: executables
 * need not be readable.
 */
export function formatProblem(path: string): FormatProblem | undefined {
  const head = new Uint8Array(ELF_HEADER);
  try {
    const file = openSync(path, 'r');
    try {
      return judgeFormat(head.subarray(0, readSync(file, head)), process.arch);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/**
 * As {@link formatProblem}, of a file's first bytes.
 *
 * @param arch this machine's processor, as Node.js names it.
 * @example judgeFormat(head, 'x64')?.words // 'built for arm64, this machine is x64'
 */
export function judgeFormat(head: Uint8Array, arch: string): FormatProblem | undefined {
  if (head.length === 0) return { kind: 'none', words: 'an empty file' };
  if (head[0] === 0x23 && head[1] === 0x21) return undefined;
  const isElf = head[0] === 0x7f && head[1] === 0x45 && head[2] === 0x4c && head[3] === 0x46;
  if (!isElf || head.length < ELF_HEADER) {
    return { kind: 'none', words: 'neither an ELF program nor a script with a #! line' };
  }
  const low = head[18] ?? 0;
  const high = head[19] ?? 0;
  const isLittleEndian = head[5] === 1;
  const machine = isLittleEndian ? low + high * 256 : high + low * 256;
  const own = Object.keys(ELF_MACHINES).find((number) => ELF_MACHINES[Number(number)] === arch);
  if (own === undefined || Number(own) === machine || RUNS_ALSO[arch]?.includes(machine)) return undefined;
  const built = ELF_MACHINES[machine] ?? `ELF machine ${machine}`;
  return { kind: 'foreign', words: `built for ${built}, this machine is ${arch}` };
}

/** The part of the header that is looked at. */
const ELF_HEADER = 20;

/** `e_machine` (linux/elf-em.h) → the name that Node.js has for the processor. */
const ELF_MACHINES: Readonly<Record<number, string>> = {
  3: 'ia32',
  21: 'ppc64',
  22: 's390x',
  40: 'arm',
  62: 'x64',
  183: 'arm64',
  243: 'riscv64',
  258: 'loong64',
};

/** 32-bit programs that a 64-bit kernel normally starts too. */
const RUNS_ALSO: Readonly<Record<string, readonly number[]>> = { x64: [3], arm64: [40] };
