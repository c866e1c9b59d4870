/** What keeps a program from being started although its file is there, executable and for this processor. */
import { dirname } from 'node:path';
import { bytes, decode, struct, u16, u32, u64, WireError } from '@heddle/wire';
import type { NodeFiles } from '../node/ports.ts';

/** A reason, and what helps. */
export interface ProgramProblem {
  readonly what: string;
  readonly remedy: string;
}

/** Whether the interpreter that a program names is missing: of a script by its first line, of ELF by PT_INTERP (elf(5)). */
export function interpreterProblem(files: NodeFiles, path: string): ProgramProblem | undefined {
  const head = files.head(path, HEAD);
  const interpreter = head && (scriptInterpreter(head) ?? elfInterpreter(head));
  if (interpreter === undefined || files.facts(interpreter) !== undefined) return undefined;
  const isScript = head?.[0] === 0x23;
  return {
    what: `its interpreter ${interpreter} is not installed (the kernel says "no such file or directory", of the interpreter)`,
    remedy: isScript
      ? `install ${interpreter}`
      : 'install a statically linked build of the plugin, or one for the C library of this system',
  };
}

/** Whether the file system that a program is on forbids to execute anything. */
export function mountProblem(files: NodeFiles, path: string): ProgramProblem | undefined {
  const mount = mountOf(files, files.real(path));
  if (mount === undefined || !mount.options.includes('noexec')) return undefined;
  return {
    what: `${mount.point} is mounted noexec`,
    remedy: `mount ${mount.point} without noexec, or keep plugins elsewhere`,
  };
}

/** A mount. */
export interface Mount {
  readonly point: string;
  readonly options: readonly string[];
}

/** The mount that a path is on, by proc_pid_mountinfo(5): the longest mount point above it, the last of equals. */
export function mountOf(files: NodeFiles, path: string): Mount | undefined {
  const mounts = (files.read('/proc/self/mountinfo') ?? '').split('\n').flatMap((line) => {
    const fields = line.split(' ');
    const [, , , , point, own = ''] = fields;
    const ofSystem = fields[fields.indexOf('-') + 3] ?? '';
    return point === undefined
      ? []
      : [{ point: unescaped(point), options: [...own.split(','), ...ofSystem.split(',')] }];
  });
  for (let at = path; ; at = dirname(at)) {
    const mount = mounts.findLast(({ point }) => point === at);
    if (mount !== undefined || at === '/' || at === '.') return mount;
  }
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

function scriptInterpreter(head: Uint8Array): string | undefined {
  if (head[0] !== 0x23 || head[1] !== 0x21) return undefined;
  const line = new TextDecoder().decode(head).split('\n')[0]?.slice(2).trim() ?? '';
  const [program = ''] = line.split(/\s/);
  return program.startsWith('/') ? program : undefined;
}

function elfInterpreter(head: Uint8Array): string | undefined {
  const isElf = head[0] === 0x7f && head[1] === 0x45 && head[2] === 0x4c && head[3] === 0x46;
  const isOwnKind = head[4] === ELFCLASS64 && head[5] === ELFDATA2LSB;
  if (!isElf || !isOwnKind) return undefined;
  try {
    const { start, entrySize, entries } = decode(elfHeader, head.subarray(0, elfHeader.size));
    for (let index = 0, at = Number(start); index < entries; index++, at += entrySize) {
      const { type, offset, length } = decode(
        programHeader,
        head.subarray(at, at + (programHeader.size ?? 0)),
      );
      const end = Number(offset + length);
      if (type !== PT_INTERP || end > head.length) continue;
      return new TextDecoder().decode(head.subarray(Number(offset), end)).replace(/\0+$/, '');
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
  return undefined;
}

/** Elf64_Ehdr */
const elfHeader = struct('ELF header', {
  ident: bytes(16),
  type: u16,
  machine: u16,
  version: u32,
  entry: u64,
  start: u64,
  sections: u64,
  flags: u32,
  size: u16,
  entrySize: u16,
  entries: u16,
  sectionSize: u16,
  sectionCount: u16,
  names: u16,
});

/** Elf64_Phdr */
const programHeader = struct('ELF program header', {
  type: u32,
  flags: u32,
  offset: u64,
  address: u64,
  physical: u64,
  length: u64,
  inMemory: u64,
  align: u64,
});

const ELFCLASS64 = 2;
const ELFDATA2LSB = 1;
const PT_INTERP = 3;
/** Program headers and the interpreter's name stand at the beginning of the file. */
const HEAD = 4096;
