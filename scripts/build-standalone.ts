/**
 * Builds the plugins' multi-call program and puts the addon beside it: `build/plugins/heddle-cni` and
 * `build/plugins/heddle_sys.node`. Nothing is done when the sources are older than the program.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The modules of the program, by path from the repository's root, and the files that they were bundled into. */
export interface BundleContents {
  readonly inputs: Readonly<Record<string, BundledModule>>;
  readonly outputs: Readonly<Record<string, BundledFile>>;
}

/** One module. What it imports is `external` when it is in another file, or when the runtime brings it. */
export interface BundledModule {
  readonly imports: readonly Import[];
}

/** One file inside the program, loaded as a whole. It has an entry point when an `import()` is what loads it. */
export interface BundledFile {
  readonly entryPoint?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly imports: readonly Import[];
}

/** What is imported, by the name of the file, the module, or the module of the runtime. */
export interface Import {
  readonly path: string;
  readonly kind: string;
  readonly external?: boolean;
}

const OUT = 'build/plugins';
const ADDON = 'packages/sys/build/heddle_sys.node';

/** The directory that holds the program and the addon. */
export function buildStandalone(): string {
  const program = join(OUT, 'heddle-cni');
  // Several tests may find the program stale at once.
  const unfinished = `${program}.${process.pid}`;
  mkdirSync(OUT, { recursive: true });
  if (isStale(program, 'scripts/build-standalone.ts')) {
    const started = performance.now();
    execFileSync(bunPath(), [
      'build',
      '--compile',
      '--minify',
      '--bytecode',
      // Only the code of the plugin that is called, and of what it needs, is loaded.
      '--format=esm',
      '--splitting',
      // A plugin lives for milliseconds: compiling its functions costs more than it brings.
      '--compile-jit-policy=1000',
      '--conditions=source',
      // What a plugin does may not depend on files that lie in its caller's working directory.
      '--no-compile-autoload-dotenv',
      '--no-compile-autoload-bunfig',
      `--metafile=${OUT}/bundle.json`,
      `--outfile=${unfinished}`,
      'packages/standalone/src/main.ts',
    ]);
    renameSync(unfinished, program);
    console.log(`built ${program} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
  putAddonInto(OUT);
  return OUT;
}

/** Puts the addon beside a program, unless it is there. */
export function putAddonInto(directory: string): void {
  const beside = join(directory, 'heddle_sys.node');
  if (existsSync(beside) && statSync(beside).mtimeMs >= statSync(ADDON).mtimeMs) return;
  copyFileSync(ADDON, `${beside}.${process.pid}`);
  renameSync(`${beside}.${process.pid}`, beside);
}

/** What the bundle was made of. */
export function bundleContents(): BundleContents {
  return JSON.parse(readFileSync(join(OUT, 'bundle.json'), 'utf8')) as BundleContents;
}

/** Whether a program that was built from all sources, by a script, is older than one of them. */
export function isStale(program: string, script: string): boolean {
  if (!existsSync(program)) return true;
  const built = statSync(program).mtimeMs;
  const sources = [...globSync('packages/*/src/**/*.ts'), 'package-lock.json', script];
  return sources.some((path) => !path.endsWith('.test.ts') && statSync(path).mtimeMs > built);
}

/** Bun's program as npm brings it; the baseline build runs on processors without AVX2 too. */
export function bunPath(): string {
  const names =
    process.arch === 'arm64' ? ['bun-linux-aarch64'] : ['bun-linux-x64-baseline', 'bun-linux-x64'];
  const found = names.map((name) => `node_modules/@oven/${name}/bin/bun`).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`bun for ${process.arch} is not installed: run npm ci`);
  return found;
}

if (import.meta.main) buildStandalone();
