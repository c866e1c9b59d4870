/** Boots the lab's machine for one command: an emulated one, since nested virtualisation is rarely to be had. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { CHANNEL, FrameReader } from './frames.ts';
import { initramfs, type Job } from './initramfs.ts';
import type { Kernel } from './kernel.ts';

/** A command for the guest, and who gets what it writes. */
export interface GuestRun extends Job {
  readonly onOutput?: (bytes: Buffer) => void;
  readonly onError?: (bytes: Buffer) => void;
  /** What the command writes to its file descriptor 3. */
  readonly onReport?: (bytes: Buffer) => void;
  /** After so many seconds the machine is ended. */
  readonly limit?: number;
}

/** Whether the emulator is installed. */
export function hasEmulator(): boolean {
  return spawnSync(PROGRAM, ['--version']).status === 0;
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
    return await boot(startQemu(kernel, initrd, run.terminal), run);
  } finally {
    closeSync(initrd);
  }
}

const PROGRAM = 'qemu-system-x86_64';
/** Seconds; setTimeout takes no more. */
const FOREVER = 2_000_000;
/** How much of the console an error shows. */
const TAIL = 4000;
const PORT_FD = 3;
const CONSOLE_FD = 4;
const INITRD_FD = 5;

const COMMAND_LINE = [
  'console=ttyS0 quiet',
  // A panic ends the machine at once.
  'panic=-1 reboot=t',
  // What takes time in an emulated machine, or is of no use there.
  'mitigations=off apparmor=0 audit=0 nokaslr no_timer_check random.trust_cpu=on cryptomgr.notests=1',
  // A time stamp counter is measured at boot; where the host is busy then, minutes of the guest were seconds.
  'clocksource=hpet tsc=unstable',
  'initcall_blacklist=jent_mod_init,load_system_certificate_list',
].join(' ');

function boot(qemu: ChildProcess, { limit = FOREVER, ...run }: GuestRun): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const kill = () => qemu.kill('SIGKILL');
  process.once('exit', kill);
  let status: number | undefined;
  let said = '';
  const timer = setTimeout(() => {
    said = `${said}\nit had not ended after ${limit} seconds`;
    kill();
  }, limit * 1000);
  const frames = new FrameReader();
  portOf(qemu).on('data', (piece: Buffer) => {
    for (const { channel, bytes } of frames.read(piece)) {
      if (channel === CHANNEL.output) run.onOutput?.(bytes);
      if (channel === CHANNEL.error) run.onError?.(bytes);
      if (channel === CHANNEL.report) run.onReport?.(bytes);
      if (channel !== CHANNEL.status) continue;
      status = bytes.readUInt8();
      kill();
    }
  });
  for (const stream of [qemu.stderr, qemu.stdio[CONSOLE_FD] as Readable | undefined]) {
    stream?.on('data', (piece: Buffer) => {
      said = `${said}${piece}`.slice(-TAIL);
    });
  }
  qemu.once('error', reject);
  qemu.once('close', (code, signal) => {
    clearTimeout(timer);
    process.off('exit', kill);
    if (status !== undefined) resolve(status);
    else reject(new Error(`the lab's machine ended too soon (${signal ?? code}):\n${said}`));
  });
  return promise;
}

function startQemu(kernel: Kernel, initrd: number, terminal: boolean): ChildProcess {
  const machine = [
    // KVM inside a virtual machine may hang where it does not fail, so it is not tried.
    ...['-accel', 'tcg', '-machine', 'q35,usb=off', '-m', '2G'],
    // Where a processor says that it moves strings fast, kernels do so byte by byte, which an emulated one does not.
    ...['-cpu', 'max,-erms,-fsrm'],
    // With two, each often waits for the other: on a busy host a test takes three times as long.
    ...['-smp', '1'],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-kernel', kernel.image, '-initrd', `/dev/fd/${INITRD_FD}`, '-append', COMMAND_LINE],
    ...['-fsdev', 'local,id=host,path=/,security_model=none,readonly=on,multidevs=remap'],
    ...['-device', 'virtio-9p-pci,fsdev=host,mount_tag=host'],
    ...['-device', 'virtio-serial-pci', '-chardev', `socket,id=port,fd=${PORT_FD}`],
    ...['-device', 'virtserialport,chardev=port', '-serial', 'chardev:console', '-chardev'],
    terminal ? 'stdio,id=console,signal=off' : `socket,id=console,fd=${CONSOLE_FD}`,
  ];
  const user = terminal ? 'inherit' : 'ignore';
  // However this process ends, the machine ends with it.
  return spawn('setpriv', ['--pdeathsig', 'KILL', '--', PROGRAM, ...machine], {
    stdio: [user, user, 'pipe', 'pipe', terminal ? 'ignore' : 'pipe', initrd],
  });
}

/** A file that is gone when everybody has closed it, however they end. */
function openUnlinked(content: Uint8Array): number {
  const path = join(tmpdir(), `heddle-initrd-${process.pid}-${randomUUID()}`);
  const fd = openSync(path, 'wx+', 0o600);
  rmSync(path);
  for (let at = 0; at < content.length; ) at += writeSync(fd, content, at);
  return fd;
}

function portOf(qemu: ChildProcess): Readable {
  const port = qemu.stdio[PORT_FD];
  if (!port || !('on' in port)) throw new Error(`${PROGRAM} has no port`);
  return port as Readable;
}
