/** What the guest has before it sees the host's files: its init, the modules that lead to them, and its job. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CHARACTER_DEVICE, type CpioEntry, cpio, DIRECTORY, FILE } from './cpio.ts';
import type { Kernel, Machine } from './kernel.ts';

/** What to run in the guest. */
export interface Job {
  /** The program, found along `PATH`, and its arguments. */
  readonly command: readonly string[];
  /** A folder of the host. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the command talks to the machine's console in place of pipes. */
  readonly terminal: boolean;
}

/** Compiles the init and packs all up. `init.c` says how a job is written. */
export function initramfs(kernel: Kernel, job: Job): Uint8Array {
  const modules = modulesFor(WAYS[kernel.machine].modules, kernel);
  return cpio([
    ...['dev', 'modules', 'root'].map((name): CpioEntry => ({ name, mode: DIRECTORY | 0o755 })),
    { name: 'dev/console', mode: CHARACTER_DEVICE | 0o600, device: [5, 1] },
    { name: 'init', mode: FILE | 0o755, content: compiledInit() },
    { name: 'job', mode: FILE | 0o644, content: jobText(kernel, job) },
    ...modules.map((path, index): CpioEntry => {
      // The init loads them in the order of their names.
      const name = `modules/${String(index).padStart(2, '0')}-${basename(path)}`;
      return { name, mode: FILE | 0o644, content: readFileSync(join(kernel.modules, path)) };
    }),
  ]);
}

const INIT_SOURCE = new URL('init.c', import.meta.url).pathname;

/** How the guest comes to this machine's files, and where it writes what is for this machine. */
const WAYS = {
  emulated: {
    modules: ['virtio_pci', 'virtio_console', '9pnet_virtio', '9p', 'overlay'],
    files: ['9p', 'trans=virtio,version=9p2000.L,msize=512000,cache=loose'],
    port: '/dev/vport*',
    console: '/dev/ttyS0',
  },
  'user-mode': {
    modules: ['overlay', 'ipv6'],
    files: ['hostfs', '/'],
    port: '/dev/ttyS0',
    console: '/dev/tty0',
  },
} as const satisfies Record<Machine, unknown>;

function compiledInit(): Uint8Array {
  const workshop = mkdtempSync(join(tmpdir(), 'heddle-init-'));
  try {
    const program = join(workshop, 'init');
    execFileSync('cc', ['-static', '-Os', '-Wall', '-Wextra', '-Werror', '-o', program, INIT_SOURCE]);
    return readFileSync(program);
  } finally {
    rmSync(workshop, { recursive: true });
  }
}

function jobText(kernel: Kernel, { command, directory, environment, terminal }: Job): Uint8Array {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const { files, port, console } = WAYS[kernel.machine];
  const strings = [
    ...[kernel.release, kernel.modules, ...files, port, console],
    directory,
    terminal ? 'terminal' : 'pipes',
    ...variables,
    '',
    ...command,
  ];
  return Buffer.from(strings.map((text) => `${text}\0`).join(''));
}

/** The files of these modules and of those that they need, in the order of loading. What is built in has none. */
function modulesFor(names: readonly string[], kernel: Kernel): readonly string[] {
  const files = new Map<string, readonly string[]>();
  for (const line of readFileSync(join(kernel.modules, 'modules.dep'), 'utf8').split('\n')) {
    const [path = '', needs = ''] = line.split(':');
    // depmod names what is needed last first.
    files.set(moduleName(path), [...needs.split(' ').filter(Boolean).reverse(), path]);
  }
  return [...new Set(names.flatMap((name) => files.get(name) ?? []))];
}

function moduleName(path: string): string {
  return basename(path, '.ko').replaceAll('-', '_');
}
