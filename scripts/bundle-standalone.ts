/** The plugins' TypeScript, and the modules of Node.js that it imports, as one script for QuickJS. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The modules of the program, by path from the repository's root. */
export interface BundleContents {
  readonly inputs: Readonly<Record<string, BundledModule>>;
}

/** One module. What it imports is `external` when it is not part of the program. */
export interface BundledModule {
  readonly imports: readonly { readonly path: string; readonly kind: string; readonly external?: boolean }[];
}

const HOST = './packages/standalone/src/host';

/** What stands for a module that the program does not have as its sources name it. */
const STAND_INS: Readonly<Record<string, string>> = {
  'node:child_process': 'child_process.ts',
  'node:fs': 'fs.ts',
  'node:net': 'net.ts',
  'node:path': 'path.ts',
  'node:timers/promises': 'timers-promises.ts',
  'node:tty': 'tty.ts',
  'node:util': 'util.ts',
  '#once': 'once.ts',
  '#open-addon': 'open-addon.ts',
};

/**
 * Writes `program.js`, and `bundle.json` with what is in it. Modules that others import only when they need them are
 * imported at once: loading is done while the program is built.
 */
export function bundleStandalone(directory: string): void {
  bundle(directory, [PROGRAM]);
  const imports = Object.values(bundleContents(directory).inputs).flatMap((module) => module.imports);
  const late = imports.filter(({ kind }) => kind === 'dynamic-import').map(({ path }) => path);
  bundle(directory, [...new Set(late), PROGRAM]);
}

const PROGRAM = 'packages/standalone/src/program.ts';

function bundle(directory: string, modules: readonly string[]): void {
  const words = [
    ...['--bundle', '--minify', '--format=iife', '--platform=neutral', '--log-level=warning'],
    ...['--target=es2023', '--conditions=source', '--main-fields=module,main'],
    ...Object.entries(STAND_INS).map(([name, file]) => `--alias:${name}=${HOST}/${file}`),
    `--inject:${HOST}/globals.ts`,
    `--metafile=${join(directory, 'bundle.json')}`,
    `--outfile=${join(directory, 'program.js')}`,
  ];
  // A static import of a module that has no side effects, and is not used, would be left out.
  const input = modules.map((path) => `void import('./${path}');\n`).join('');
  execFileSync(esbuildPath(), words, { input, stdio: ['pipe', 'ignore', 'inherit'] });
}

/** What a bundle was made of. */
export function bundleContents(directory: string): BundleContents {
  return JSON.parse(readFileSync(join(directory, 'bundle.json'), 'utf8')) as BundleContents;
}

/** esbuild's program as npm brings it. */
function esbuildPath(): string {
  const path = `node_modules/@esbuild/linux-${process.arch}/bin/esbuild`;
  if (!existsSync(path)) throw new Error(`esbuild for ${process.arch} is not installed: run npm ci`);
  return path;
}
