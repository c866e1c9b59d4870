/** The addon inside a single executable made by `bun build --compile`, as the plugin binary uses it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { entry } from './testing/program.ts';
import { scratchDirectory } from './testing/scratch.ts';

const bun = findBun();
const skip = bun === undefined ? `no Bun package for ${process.arch} is installed` : false;
const addon = fileURLToPath(new URL('../build/heddle_sys.node', import.meta.url));

const source = `
  import * as sys from ${JSON.stringify(fileURLToPath(entry))};
  import { dumpLinks } from ${JSON.stringify(fileURLToPath(new URL('./testing/messages.ts', import.meta.url)))};
  using own = sys.currentNetns();
  using netns = sys.createNetns();
  using route = sys.socket({ family: sys.AF.NETLINK, type: sys.SOCK.RAW, netns });
  const parts = sys.transactSync(route, dumpLinks).length;
  const inside = sys.runInNetns(netns, () => { using current = sys.currentNetns(); return current.key; });
  sys.writeFileIn(netns, '/proc/sys/net/ipv4/ip_forward', '1');
  let refusal = '';
  try { sys.openNetns('/none'); } catch (error) { refusal = String(error); }
  using lock = sys.openFile(process.argv[2] + '/lock', sys.O.RDWR | sys.O.CREAT, 0o600);
  const locked = sys.flock(lock, 'exclusive');
  const later = await Promise.all([sys.transact(route, dumpLinks), sys.transact(route, dumpLinks)]);
  console.log(JSON.stringify({
    parts, refusal, locked, later: later.map((each) => each.length),
    inside: inside === netns.key, other: inside !== own.key,
    forward: sys.readFileIn(netns, '/proc/sys/net/ipv4/ip_forward'),
  }));
`;

test('a compiled program finds the addon beside it, also through a link', { skip }, () => {
  using directory = scratchDirectory();
  const at = (name: string) => join(directory.path, name);
  writeFileSync(at('main.ts'), source);
  execute(bun ?? '', [
    ...['build', '--compile', '--conditions=source', at('main.ts'), '--outfile', at('program')],
  ]);
  copyFileSync(addon, at('heddle_sys.node'));
  mkdirSync(at('bin'));
  symlinkSync(at('program'), at('bin/linked'));
  for (const program of ['program', 'bin/linked']) {
    assert.deepEqual(JSON.parse(execute(at(program), [directory.path])), {
      parts: 2,
      refusal: 'SysError: statfs /none: ENOENT (No such file or directory)',
      locked: true,
      later: [2, 2],
      inside: true,
      other: true,
      forward: '1\n',
    });
  }
});

test('without the addon the program says where it looked', { skip }, () => {
  using directory = scratchDirectory();
  const at = (name: string) => join(directory.path, name);
  writeFileSync(at('main.ts'), source);
  execute(bun ?? '', [
    'build',
    '--compile',
    '--conditions=source',
    at('main.ts'),
    '--outfile',
    at('program'),
  ]);
  const { status, stderr } = spawnSync(at('program'), [directory.path], { encoding: 'utf8' });
  assert.notEqual(status, 0);
  assert.match(stderr, /load addon heddle_sys\.node: not found \(tried .*heddle_sys\.node\)/);
  assert.ok(stderr.includes(at('heddle_sys.node')));
});

function execute(command: string, words: readonly string[]): string {
  const { status, signal, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  assert.deepEqual([status, signal], [0, null], `${stdout}\n${stderr}`);
  return stdout;
}

/** The first Bun that runs on this processor. */
function findBun(): string | undefined {
  const resolve = createRequire(import.meta.url).resolve;
  const names = process.arch === 'arm64' ? ['linux-aarch64'] : ['linux-x64', 'linux-x64-baseline'];
  return names
    .flatMap((name) => {
      try {
        return [resolve(`@oven/bun-${name}/bin/bun`)];
      } catch {
        return [];
      }
    })
    .find((path) => existsSync(path) && spawnSync(path, ['--version']).status === 0);
}
