/**
 * The kernels of the lab: Debian's own, downloaded and unpacked once, below `build`. No version is pinned, since the
 * mirror keeps only the newest; removing `build/lab` or `build/lab-user-mode` brings that.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { arrangeEmulated, arrangeUserMode, emulatedPackage, MODULES } from './kernel-package.ts';

/**
 * What a kernel runs on. An emulated processor, for one that has everything; or as a process of this machine (user-mode
 * Linux), which is many times as fast but lacks WireGuard, BPF's type information and nf_tables beyond bridges.
 */
export type Machine = 'emulated' | 'user-mode';

/** A kernel that can be booted. */
export interface Kernel {
  readonly machine: Machine;
  /** What `uname -r` says. */
  readonly release: string;
  /** The ELF file. */
  readonly image: string;
  /** The folder with `modules.dep`. */
  readonly modules: string;
}

/** What `HEDDLE_LAB` asks for. */
function chosenMachine(): Machine {
  const asked = process.env['HEDDLE_LAB'] ?? 'emulated';
  if (asked !== 'emulated' && asked !== 'user-mode')
    throw new Error(`HEDDLE_LAB=${asked}: there are the labs emulated and user-mode`);
  return asked;
}

/** Where the kernel is; `undefined` before {@link fetchKernel}. */
export function findKernel(machine = chosenMachine()): Kernel | undefined {
  const { home, image } = SOURCES[machine];
  if (!existsSync(home)) return undefined;
  const [release = ''] = readdirSync(join(home, MODULES));
  return { machine, release, image: join(home, image), modules: join(home, MODULES, release) };
}

/**
 * Downloads and unpacks the kernel unless that has been done. Takes some 10 seconds.
 *
 * @throws {Error} when this is no Debian, or its mirror has no such kernel
 */
export function fetchKernel(machine = chosenMachine()): Kernel {
  const found = findKernel(machine);
  if (found !== undefined) return found;
  const { home, arrange, packageName } = SOURCES[machine];
  mkdirSync(join(home, '..'), { recursive: true });
  const workshop = mkdtempSync(`${home}.`);
  try {
    execFileSync('dpkg-deb', ['--extract', download(workshop, packageName), join(workshop, 'package')]);
    mkdirSync(join(workshop, 'lab'));
    arrange(join(workshop, 'package'), join(workshop, 'lab'));
    // Whole or not at all, also when two do this at once.
    if (!existsSync(home)) renameSync(join(workshop, 'lab'), home);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
  return fetchKernel(machine);
}

const SOURCES = {
  emulated: {
    home: homeOf('lab'),
    image: 'vmlinux',
    packageName: emulatedPackage,
    arrange: arrangeEmulated,
  },
  'user-mode': {
    home: homeOf('lab-user-mode'),
    image: 'linux.uml',
    packageName: () => 'user-mode-linux',
    arrange: arrangeUserMode,
  },
} as const;

function homeOf(name: string): string {
  return fileURLToPath(new URL(`../../build/${name}`, import.meta.url));
}

/** Downloads the package; with fresh lists when those that are there lead nowhere. */
function download(directory: string, packageName: () => string): string {
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
