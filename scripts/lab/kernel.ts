/**
 * The kernel of the lab: Debian's own, downloaded and unpacked once, into `build/lab`. No version is pinned, since
 * the mirror keeps only the newest; removing `build/lab` brings that.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackKernel } from './unpack-kernel.ts';

/** A kernel that can be booted. */
export interface Kernel {
  /** What `uname -r` says. */
  readonly release: string;
  /** The ELF file. */
  readonly image: string;
  /** The folder with `modules.dep`. */
  readonly modules: string;
}

/** Where the kernel is; `undefined` before {@link fetchKernel}. */
export function findKernel(): Kernel | undefined {
  if (!existsSync(home)) return undefined;
  const [release = ''] = readdirSync(join(home, MODULES));
  return { release, image: join(home, 'vmlinux'), modules: join(home, MODULES, release) };
}

/**
 * Downloads and unpacks the kernel unless that has been done. Takes some 10 seconds.
 *
 * @throws {Error} when this is no Debian, or its mirror has no such kernel
 */
export function fetchKernel(): Kernel {
  const found = findKernel();
  if (found !== undefined) return found;
  mkdirSync(join(home, '..'), { recursive: true });
  const workshop = mkdtempSync(`${home}.`);
  try {
    execFileSync('dpkg-deb', ['--extract', download(workshop), join(workshop, 'package')]);
    mkdirSync(join(workshop, 'lab'));
    arrange(join(workshop, 'package'), join(workshop, 'lab'));
    // Whole or not at all, also when two do this at once.
    if (!existsSync(home)) renameSync(join(workshop, 'lab'), home);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
  return fetchKernel();
}

/** As depmod wants it. */
const MODULES = 'lib/modules';
const home = fileURLToPath(new URL('../../build/lab', import.meta.url));

/** Packages that stand for the newest kernel of a series: the second where Debian's own kernel is as new. */
const SERIES = ['linux-image-6.12-amd64', 'linux-image-amd64'];

/** What a guest without hardware can have a use for, below the modules' `kernel` folder. */
const USEFUL = ['arch', 'crypto', 'lib', 'net', 'fs/9p', 'fs/netfs', 'fs/overlayfs', 'drivers/virtio'];
const USEFUL_DRIVERS = ['bonding', 'ipvlan', 'macvlan', 'netdevsim', 'team', 'vxlan', 'wireguard'];

/** Downloads the package; with fresh lists when those that are there lead nowhere. */
function download(directory: string): string {
  const get = () =>
    execFileSync('apt-get', ['download', '-q', packageName()], { cwd: directory, stdio: 'pipe' });
  try {
    get();
  } catch {
    execFileSync('apt-get', ['update', '-q'], { stdio: 'pipe' });
    get();
  }
  const [archive = ''] = globSync(join(directory, '*.deb'));
  return archive;
}

function packageName(): string {
  for (const name of SERIES) {
    const { stdout } = spawnSync('apt-cache', ['depends', name], { encoding: 'utf8' });
    const resolved = /Depends: (linux-image-\S+)/.exec(stdout ?? '')?.[1];
    if (resolved !== undefined) return resolved;
  }
  throw new Error(`no package of the kernel: apt-cache knows neither ${SERIES.join(' nor ')}`);
}

function arrange(from: string, to: string): void {
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

function move(from: string, to: string, name: string): void {
  mkdirSync(join(to, name, '..'), { recursive: true });
  renameSync(join(from, name), join(to, name));
}
