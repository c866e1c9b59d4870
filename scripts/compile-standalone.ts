/** The C half of the plugins' program: QuickJS, the addon of `sys`, and what stands between. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fetchQuickjs, hasQuickjs, QUICKJS } from './quickjs.ts';
import { changedEngine } from './quickjs-changes.ts';

/** C files that are compiled alike, and the headers that they include. */
interface Group {
  readonly name: string;
  readonly sources: readonly string[];
  readonly headers: readonly string[];
  readonly flags: readonly string[];
  /** What is compiled in place of a source. */
  readonly change?: (path: string, source: string) => string;
}

const OBJECTS = 'build/standalone';
const LANGUAGE = ['-std=c11', '-D_GNU_SOURCE', '-O3', '-fno-pie'];
const STRICT = ['-Wall', '-Wextra', '-Werror', '-fstack-protector-strong', '-D_FORTIFY_SOURCE=2'];
const NATIVE = 'packages/standalone/native';

/**
 * Links the program as it is before it has an image (`packages/standalone/native/freeze.c`), and says where it is. The
 * image has a place of its own in memory, far from all else, so that its addresses stay the same.
 */
export function compileStandalone(directory: string): string {
  if (!hasQuickjs()) fetchQuickjs();
  const seed = join(directory, 'seed');
  const objects = groups().flatMap((group) => globSync(join(compiled(group), '*.o')));
  execFileSync(compiler(), [
    ...['-static', '-no-pie', '-s', '-Wl,--section-start=.image=0x10000000,-z,noexecstack'],
    ...['-o', seed, ...objects, '-lm', '-lpthread'],
  ]);
  return seed;
}

function groups(): readonly Group[] {
  const headers: { readonly include_dir: string } = createRequire(import.meta.url)('node-api-headers');
  const nodeApi = ['-DNAPI_VERSION=8', '-isystem', headers.include_dir];
  return [
    {
      name: 'quickjs',
      sources: ['quickjs', 'libregexp', 'libunicode', 'dtoa'].map((name) => `${QUICKJS}/${name}.c`),
      headers: [...globSync(`${QUICKJS}/*.h`), `${NATIVE}/frozen.h`],
      flags: ['-DNDEBUG', '-funsigned-char', '-w', '-include', resolve(NATIVE, 'frozen.h')],
      change: (path, source) => (path.endsWith('/quickjs.c') ? changedEngine(source) : source),
    },
    {
      name: 'addon',
      // Its event loop is not that of Node.js.
      sources: globSync('packages/sys/native/*.c', { exclude: ['**/loop.c'] }),
      headers: globSync('packages/sys/native/*.h'),
      // What it allocates while the image is made belongs to that.
      flags: [...STRICT, ...nodeApi, '-include', resolve(NATIVE, 'allocation.h')],
    },
    {
      name: 'host',
      sources: globSync(`${NATIVE}/*.c`),
      headers: globSync(`${NATIVE}/*.h`),
      flags: [...STRICT, ...nodeApi, '-isystem', resolve(QUICKJS)],
    },
  ];
}

/** The directory with a group's object files. It is named after what they are made of: nothing is compiled twice. */
function compiled({ name, sources, headers, flags, change = (_, source) => source }: Group): string {
  const options = [...LANGUAGE, ...flags];
  const hash = createHash('sha256').update([compiler(), process.arch, ...options].join('\0'));
  const texts = sources.map((path) => ({ path, text: change(path, readFileSync(path, 'utf8')) }));
  for (const { text } of texts) hash.update(text);
  for (const file of [...headers, `${NATIVE}/allocation.h`].toSorted()) hash.update(readFileSync(file));
  const place = join(OBJECTS, `${name}-${hash.digest('hex').slice(0, 16)}`);
  mkdirSync(OBJECTS, { recursive: true });
  if (globSync(join(place, '*.o')).length === sources.length) return place;
  for (const old of globSync(join(OBJECTS, `{${name}-*,draft}`)))
    rmSync(old, { recursive: true, force: true });
  const draft = join(OBJECTS, 'draft');
  mkdirSync(draft);
  for (const { path, text } of texts) {
    const object = join(draft, `${basename(path, '.c')}.o`);
    const words = [...options, '-I', dirname(path), '-c', '-o', object, '-x', 'c', '-'];
    execFileSync(compiler(), words, { input: text, stdio: ['pipe', 'inherit', 'inherit'] });
  }
  renameSync(draft, place);
  return place;
}

function compiler(): string {
  return process.env['CC'] ?? 'cc';
}
