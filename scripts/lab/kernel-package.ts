/** Which packages the lab's kernels are in, and how what is in them is laid out for the lab. */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { unpackKernel } from './unpack-kernel.ts';

/** As depmod wants it. */
export const MODULES = 'lib/modules';

/** Packages that stand for the newest kernel of a series: the second where Debian's own kernel is as new. */
const SERIES = ['linux-image-6.12-amd64', 'linux-image-amd64'];

/** What a guest without hardware can have a use for, below the modules' `kernel` folder. */
const USEFUL = ['arch', 'crypto', 'lib', 'net', 'fs/9p', 'fs/netfs', 'fs/overlayfs', 'drivers/virtio'];
const USEFUL_DRIVERS = ['bonding', 'ipvlan', 'macvlan', 'netdevsim', 'team', 'vxlan', 'wireguard'];

/** The newest package of the kernel that is emulated. */
export function emulatedPackage(): string {
  for (const name of SERIES) {
    const { stdout } = spawnSync('apt-cache', ['depends', name], { encoding: 'utf8' });
    const resolved = /Depends: (linux-image-\S+)/.exec(stdout ?? '')?.[1];
    if (resolved !== undefined) return resolved;
  }
  throw new Error(`no package of the kernel: apt-cache knows neither ${SERIES.join(' nor ')}`);
}

/** Unpacks the image, and those modules that are of use. */
export function arrangeEmulated(from: string, to: string): void {
  const [boot = ''] = globSync(join(from, 'boot/vmlinuz-*'));
  const release = boot.slice(boot.indexOf('vmlinuz-') + 'vmlinuz-'.length);
  const [modules = ''] = globSync(join(from, '{,usr/}lib/modules', release));
  const target = join(to, MODULES, release);
  writeFileSync(join(to, 'vmlinux'), unpackKernel(readFileSync(boot)));
  for (const name of globSync('modules.{order,builtin*}', { cwd: modules })) move(modules, target, name);
  const drivers = [...USEFUL_DRIVERS.map((name) => `net/${name}`), 'net/*.ko*', 'char/virtio_console.ko*'];
  for (const pattern of [...USEFUL, ...drivers.map((name) => `drivers/${name}`)]) {
    for (const name of globSync(`kernel/${pattern}`, { cwd: modules })) move(modules, target, name);
  }
  const compressed = globSync(join(target, 'kernel/**/*.ko.xz')).join('\0');
  const parallel = ['-0', '-r', '-n', '64', '-P', String(availableParallelism())];
  execFileSync('xargs', [...parallel, 'xz', '--decompress'], { input: compressed });
  execFileSync('depmod', ['-b', to, release]);
}

/** User-mode Linux is one program, with few modules. */
export function arrangeUserMode(from: string, to: string): void {
  move(join(from, 'usr/bin'), to, 'linux.uml');
  const [modules = ''] = globSync(join(from, 'usr/lib/uml/modules/*'));
  const target = join(to, MODULES);
  mkdirSync(target, { recursive: true });
  move(join(modules, '..'), target, modules.slice(modules.lastIndexOf('/') + 1));
}

function move(from: string, to: string, name: string): void {
  mkdirSync(join(to, name, '..'), { recursive: true });
  renameSync(join(from, name), join(to, name));
}
