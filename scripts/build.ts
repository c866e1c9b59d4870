/**
 * Builds everything that is delivered: the packages as JavaScript with their types (`packages/*\/dist`), the plugins'
 * program with its addon and the agent's client (`build/plugins`), which `heddle install` puts in its place, the command
 * and agent as one file (`build/heddle`), which `bin/heddle` runs, the driver of `heddle bench`, and the tracer of
 * `heddle conformance`.
 *
 *   node --conditions=source scripts/build.ts
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { buildCommand } from './build-command.ts';
import { buildCrash } from './build-crash.ts';
import { buildDriver } from './build-driver.ts';
import { buildShim } from './build-shim.ts';
import { buildStandalone } from './build-standalone.ts';

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Package {
  readonly directory: string;
  readonly manifest: Manifest;
}

run('node_modules/.bin/node', 'scripts/build-native.ts');
const packages = inOrder(libraries());
for (const each of packages) buildPackage(each);
run('node_modules/.bin/node', '--input-type=module', '--eval', packages.flatMap(imports).join('\n'));
const plugins = buildStandalone();
buildShim();
const command = buildCommand();
const [driver, tracer] = [buildDriver(), buildCrash()];

const programs = ['heddle-cni', 'heddle-shim'].map((name) => join(plugins, name));
for (const path of [...programs, command, driver, tracer]) {
  console.log(`${(statSync(path).size / 1024 / 1024).toFixed(1).padStart(6)} MiB  ${path}`);
}

/** The packages that others can depend on; what is private is only ever part of a program. */
function libraries(): readonly Package[] {
  return globSync('packages/*/package.json')
    .map((path) => ({
      directory: path.slice(0, -'/package.json'.length),
      manifest: JSON.parse(readFileSync(path, 'utf8')) as Manifest,
    }))
    .filter(({ manifest }) => manifest.private !== true);
}

/** Each after those that it imports, because it is compiled against their types. */
function inOrder(packages: readonly Package[]): readonly Package[] {
  const ordered: Package[] = [];
  const visit = (each: Package): void => {
    if (ordered.includes(each)) return;
    const names = Object.keys(each.manifest.dependencies ?? {});
    packages.filter(({ manifest }) => names.includes(manifest.name)).forEach(visit);
    ordered.push(each);
  };
  packages.forEach(visit);
  return ordered;
}

function buildPackage({ directory, manifest }: Package): void {
  const dist = join(directory, 'dist');
  rmSync(dist, { recursive: true, force: true });
  run('node_modules/.bin/tsc', '-p', writeConfig(directory, manifest));
  for (const program of Object.values(manifest.bin ?? {})) chmodSync(join(directory, program), 0o755);
  const files = globSync(join(dist, '**/*.js'));
  const size = files.reduce((sum, path) => sum + statSync(path).size, 0);
  console.log(`${(size / 1024).toFixed(0).padStart(6)} KiB  ${dist}, ${files.length} modules`);
}

/** Loads what was built, as a user of the package does. */
function imports({ directory, manifest: { name, exports } }: Package): readonly string[] {
  return Object.keys(exports)
    .filter((entry) => !entry.endsWith('/testing'))
    .flatMap((entry) => (entry.includes('*') ? globSync(entry, { cwd: directory }) : [entry]))
    .map((entry) => `'${join(name, entry)}'`)
    .map(
      (entry) => `await import(${entry}${entry.endsWith(".json'") ? ", { with: { type: 'json' } }" : ''});`,
    );
}

/** Like the project's own configuration, but it writes files and takes other packages as they are delivered. */
function writeConfig(directory: string, { name }: Manifest): string {
  const path = join('build', 'types', `${name.replace('@heddle/', '')}.json`);
  const root = `../../${directory}`;
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: {
      // Node.js runs the sources as they are; only types are to go.
      target: 'esnext',
      customConditions: [],
      noEmit: false,
      declaration: true,
      sourceMap: true,
      rootDir: `${root}/src`,
      outDir: `${root}/dist`,
      typeRoots: ['../../node_modules/@types'],
      // What a package imports of itself under another name, such as `#open-addon`.
      paths: { '#*': [`${root}/src/*.ts`] },
    },
    include: [`${root}/src`],
    exclude: [`${root}/src/**/*.test.ts`],
  };
  mkdirSync(join('build', 'types'), { recursive: true });
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`);
  return path;
}

function run(program: string, ...args: readonly string[]): void {
  if (!existsSync(program)) throw new Error(`${program} is not there: run npm ci`);
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
