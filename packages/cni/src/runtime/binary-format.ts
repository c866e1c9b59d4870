/**
 * Whether a program is in a format that this machine can start, told from its first bytes: a script, or an
 * ELF file for this processor (elf(5)).
 */

/** How many bytes {@link binaryFormat} looks at. */
const ELF_HEADER = 20;

/**
 * What is wrong with a program's format, in words that follow "is"; `undefined` when nothing is.
 *
 * @param head the file's first bytes.
 * @param arch this machine's processor, as Node.js names it.
 * @example binaryFormat(head, 'x64') // 'built for arm64, this machine is x64'
 */
export function binaryFormat(head: Uint8Array, arch: string): string | undefined {
  if (head.length === 0) return 'an empty file';
  if (head[0] === 0x23 && head[1] === 0x21) return undefined;
  const isElf = head[0] === 0x7f && head[1] === 0x45 && head[2] === 0x4c && head[3] === 0x46;
  if (!isElf || head.length < ELF_HEADER) return 'neither an ELF program nor a script with a #! line';
  const low = head[18] ?? 0;
  const high = head[19] ?? 0;
  const isLittleEndian = head[5] === 1;
  const machine = isLittleEndian ? low + high * 256 : high + low * 256;
  const own = Object.keys(ELF_MACHINES).find((number) => ELF_MACHINES[Number(number)] === arch);
  if (own === undefined || Number(own) === machine || RUNS_ALSO[arch]?.includes(machine)) return undefined;
  return `built for ${ELF_MACHINES[machine] ?? `ELF machine ${machine}`}, this machine is ${arch}`;
}

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
