/** Boots the lab's machine for one command. */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { CHANNEL, FrameReader } from './frames.ts';
import { initramfs, type Job } from './initramfs.ts';
import { findKernel, type Kernel, type Machine } from './kernel.ts';
import { CONSOLE_FD, PORT_FD, type Start } from './machine.ts';
import { hasEmulator, startQemu } from './qemu.ts';
import { startUserMode } from './user-mode.ts';

/** A command for the guest, and who gets what it writes. */
export interface GuestRun extends Job {
  readonly onOutput?: (bytes: Buffer) => void;
  readonly onError?: (bytes: Buffer) => void;
  /** What the command writes to its file descriptor 3. */
  readonly onReport?: (bytes: Buffer) => void;
  /** After so many seconds the machine is ended. */
  readonly limit?: number;
}

/** The lab's kernel, where it and what it needs to run are there. */
export function bootableKernel(): Kernel | undefined {
  const kernel = findKernel();
  return kernel?.machine === 'user-mode' || hasEmulator() ? kernel : undefined;
}

/**
 * Runs one command in a fresh machine, which sees all files of this one and leaves none of them changed.
 *
 * @returns the command's exit status; 128 and the signal's number when one ended it
 * @throws {Error} when the machine ends without one; with the end of its console
 */
export async function runInGuest(kernel: Kernel, run: GuestRun): Promise<number> {
  const initrd = openUnlinked(initramfs(kernel, run));
  try {
    return await boot(STARTS[kernel.machine](kernel, initrd, run.terminal), run);
  } finally {
    closeSync(initrd);
  }
}

const STARTS: Readonly<Record<Machine, Start>> = { emulated: startQemu, 'user-mode': startUserMode };
/** Seconds; setTimeout takes no more. */
const FOREVER = 2_000_000;
/** How much of the console an error shows. */
const TAIL = 4000;

function boot(machine: ChildProcess, { limit = FOREVER, ...run }: GuestRun): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const kill = () => machine.kill('SIGKILL');
  process.once('exit', kill);
  let status: number | undefined;
  let said = '';
  const timer = setTimeout(() => {
    said = `${said}\nit had not ended after ${limit} seconds`;
    kill();
  }, limit * 1000);
  const frames = new FrameReader();
  portOf(machine).on('data', (piece: Buffer) => {
    for (const { channel, bytes } of frames.read(piece)) {
      if (channel === CHANNEL.output) run.onOutput?.(bytes);
      if (channel === CHANNEL.error) run.onError?.(bytes);
      if (channel === CHANNEL.report) run.onReport?.(bytes);
      if (channel !== CHANNEL.status) continue;
      status = bytes.readUInt8();
      kill();
    }
  });
  for (const stream of [machine.stderr, machine.stdio[CONSOLE_FD] as Readable | undefined]) {
    stream?.on('data', (piece: Buffer) => {
      said = `${said}${piece}`.slice(-TAIL);
    });
  }
  machine.once('error', reject);
  machine.once('close', (code, signal) => {
    clearTimeout(timer);
    process.off('exit', kill);
    if (status !== undefined) resolve(status);
    else reject(new Error(`the lab's machine ended too soon (${signal ?? code}):\n${said}`));
  });
  return promise;
}

/** A file that is gone when everybody has closed it, however they end. */
function openUnlinked(content: Uint8Array): number {
  const path = join(tmpdir(), `heddle-initrd-${process.pid}-${randomUUID()}`);
  const fd = openSync(path, 'wx+', 0o600);
  rmSync(path);
  for (let at = 0; at < content.length; ) at += writeSync(fd, content, at);
  return fd;
}

function portOf(machine: ChildProcess): Readable {
  const port = machine.stdio[PORT_FD];
  if (!port || !('on' in port)) throw new Error('the machine has no port');
  return port as Readable;
}
