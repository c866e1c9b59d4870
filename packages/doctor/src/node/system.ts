/** This machine's files, and what it says about itself. */
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { release, uptime } from 'node:os';
import { O, openFile, read, SysError } from '@heddle/sys';
import type { KernelLine, Machine, NodeFiles } from './ports.ts';

/** The files of this machine. */
export const systemFiles: NodeFiles = {
  facts: (path) =>
    orUndefined(() => {
      const stats = statSync(path);
      const { mode, uid, gid, mtimeMs, ctimeMs } = stats;
      const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other';
      return { kind, mode: mode & 0o7777, uid, gid, changedAt: Math.max(mtimeMs, ctimeMs) };
    }),
  read: (path) =>
    orUndefined(() => {
      const stats = statSync(path);
      // A pipe or a device would be waited for, or read, without an end.
      return stats.isFile() && stats.size <= LARGEST ? readFileSync(path, 'utf8') : undefined;
    }),
  head: (path, length) =>
    orUndefined(() => {
      const fd = openSync(path, 'r');
      try {
        const bytes = new Uint8Array(length);
        return bytes.subarray(0, readSync(fd, bytes));
      } finally {
        closeSync(fd);
      }
    }),
  real: (path) => orUndefined(() => realpathSync(path)) ?? path,
  list: (path) => orUndefined(() => readdirSync(path).toSorted()) ?? [],
  refusal(path, wish) {
    try {
      accessSync(path, WISHES[wish]);
      return undefined;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? 'EIO';
    }
  },
};

/** This machine. */
export const systemMachine: Machine = {
  get kernelRelease() {
    return release();
  },
  get uid() {
    return process.getuid?.() ?? 0;
  },
  kernelLog() {
    try {
      using log = openFile('/dev/kmsg', O.RDONLY | O.NONBLOCK);
      return kernelLines(() => read(log, RECORD));
    } catch (error) {
      if (error instanceof SysError) return [];
      throw error;
    }
  },
  startTimes(program) {
    const booted = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1];
    if (booted === undefined) return [];
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        const stat = orUndefined(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
        const [, name, rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(stat ?? '') ?? [];
        const ticks = Number(rest.split(' ')[START_TIME_AFTER_NAME]);
        return name === program ? [Number(booted) * 1000 + ticks * TICK] : [];
      });
  },
};

const WISHES = { read: constants.R_OK, write: constants.W_OK, execute: constants.X_OK } as const;
/** Bytes. What is larger is nothing that a doctor reads. */
const LARGEST = 8 << 20;
/** The longest record of /dev/kmsg (CONSOLE_EXT_LOG_MAX). */
const RECORD = 8192;
/** Field 22 of proc_pid_stat(5), counted from the third. */
const START_TIME_AFTER_NAME = 19;
/** USER_HZ is 100 on every architecture that matters here. */
const TICK = 10;

/** Each read gives one record: `priority,sequence,microseconds,flags;text`, and lines of more about it. */
function kernelLines(next: () => Uint8Array | undefined): readonly KernelLine[] {
  const booted = Date.now() - uptime() * 1000;
  const lines: KernelLine[] = [];
  for (;;) {
    let record: Uint8Array | undefined;
    try {
      record = next();
    } catch (error) {
      // Records that were overwritten while this was reading.
      if (SysError.is(error, 'EPIPE')) continue;
      throw error;
    }
    if (record === undefined || record.length === 0) return lines;
    const line = new TextDecoder().decode(record);
    const microseconds = Number(line.split(',', 3)[2]);
    const text = line.slice(line.indexOf(';') + 1).split('\n')[0] ?? '';
    lines.push({ at: booted + microseconds / 1000, text });
  }
}

function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
