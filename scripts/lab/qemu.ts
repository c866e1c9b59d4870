/** The emulated machine: nested virtualisation is rarely to be had. */
import { spawn, spawnSync } from 'node:child_process';
import { CONSOLE_FD, INITRD_FD, PORT_FD, type Start } from './machine.ts';

/** Whether the emulator is installed. */
export function hasEmulator(): boolean {
  return spawnSync(PROGRAM, ['--version']).status === 0;
}

/** Starts it. */
export const startQemu: Start = (kernel, initrd, terminal) => {
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
  return spawn('setpriv', ['--pdeathsig', 'KILL', '--', PROGRAM, ...machine], {
    stdio: [user, user, 'pipe', 'pipe', terminal ? 'ignore' : 'pipe', initrd],
  });
};

const PROGRAM = 'qemu-system-x86_64';

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
