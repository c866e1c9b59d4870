import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { NetworkNotFoundError, selectNetwork } from '../index.ts';
import {
  defaultNetwork,
  listConfigDir,
  loadNetwork,
  loadNetworkFile,
  readConfigDir,
} from './config-directory.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

/** A directory of configuration files. */
class ConfigDir implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), 'heddle-net.d-'));

  constructor(files: Readonly<Record<string, unknown>> = {}) {
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  write(name: string, content: unknown): void {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

const list = (name: string, type = 'bridge', more: object = {}) => ({
  cniVersion: '1.0.0',
  name,
  plugins: [{ type }],
  ...more,
});
const conf = (name: string, type = 'bridge') => ({ cniVersion: '1.0.0', name, type });
const types = ({ plugins }: { readonly plugins: readonly { readonly type: string }[] }) =>
  plugins.map(({ type }) => type);

test('lists and single configurations are found; other files and folders are not looked at', () => {
  using dir = new ConfigDir({
    '10-a.conflist': list('a'),
    '20-b.conf': conf('b'),
    '30-c.json': conf('c'),
    '40-d.CONF': conf('d'),
    '50-e.txt': conf('e'),
    'folder.conf/60-f.conf': conf('f'),
  });
  symlinkSync('20-b.conf', join(dir.path, '70-link.conf'));
  const names = readConfigDir(dir.path).map(({ path }) => path.slice(dir.path.length + 1));
  assert.deepEqual(names.toSorted(), ['10-a.conflist', '20-b.conf', '30-c.json', '70-link.conf']);
  assert.equal(loadNetwork(dir.path, 'c').path, join(dir.path, '30-c.json'));
});

test('a directory that is not there has no networks', () => {
  assert.deepEqual(readConfigDir('/nonexistent'), []);
  assert.throws(() => loadNetwork('/nonexistent', 'a'), {
    msg: 'no net configurations found in /nonexistent',
  });
});

test('a directory that cannot be read is an error', () => {
  using dir = new ConfigDir({ file: '' });
  symlinkSync('loop', join(dir.path, 'loop'));
  assert.throws(
    () => readConfigDir(join(dir.path, 'loop')),
    /^CniError: error reading .*: too many symbolic links/,
  );
});

test('a name that no file has', () => {
  using dir = new ConfigDir({ '10-a.conflist': list('a') });
  assert.throws(() => loadNetwork(dir.path, 'b'), {
    msg: `no net configuration with name "b" in ${dir.path}`,
  });
});

test('kubernetes#53536: a broken file is refused with its place, and hides no other network', () => {
  using dir = new ConfigDir({
    '10-a.conf': '{"cniVersion":"1.0.0","name":"n1","type":"bridge","ipam":{"type":"host-local",}}',
    '15-b.conflist': '{"name":',
    '20-b.conflist': list('b'),
  });
  const { path, broken } = loadNetwork(dir.path, 'b');
  assert.equal(path, join(dir.path, '20-b.conflist'));
  assert.match(String(broken[0]?.error), /15-b\.conflist:1:9: /);
  assert.throws(
    () => loadNetwork(dir.path, 'n1'),
    (error) => {
      assert.ok(error instanceof NetworkNotFoundError);
      assert.match(error.message, /10-a\.conf:1:78: .*unexpected comma before }/);
      return true;
    },
  );
});

test('containerd#11076: a list in a .conf file is said to be one', () => {
  using dir = new ConfigDir({ '10-x.conf': list('n2') });
  assert.throws(
    () => loadNetwork(dir.path, 'n2'),
    /this is a list of plugins: the name of its file must end in \.conflist/,
  );
});

test('cri#889, podman#11590: of several files with one name the first list is in force, and the others are told', () => {
  using dir = new ConfigDir({
    '00-w.conf': conf('w', 'first'),
    '10-w.conflist': list('w', 'second'),
    '20-w.conflist': list('w', 'third'),
  });
  const { list: found, shadowed } = loadNetwork(dir.path, 'w');
  assert.deepEqual(types(found), ['second']);
  assert.deepEqual(
    shadowed,
    ['20-w.conflist', '00-w.conf'].map((name) => join(dir.path, name)),
  );
  assert.deepEqual(listConfigDir(dir.path).duplicates, [
    { name: 'w', paths: ['10-w.conflist', '20-w.conflist', '00-w.conf'].map((name) => join(dir.path, name)) },
  ]);
});

test('podman#9041: a file that vanishes between listing and reading is passed over', () => {
  using dir = new ConfigDir({ '10-a.conflist': list('a'), '20-b.conflist': list('b') });
  const files = readConfigDir(dir.path);
  unlinkSync(join(dir.path, '10-a.conflist'));
  const { list: found, broken } = selectNetwork(files, 'b');
  assert.equal(found.name, 'b');
  assert.deepEqual(broken, []);
});

test('podman#9041: a file that cannot be read is told', () => {
  using dir = new ConfigDir({ '20-b.conflist': list('b') });
  symlinkSync('.', join(dir.path, '10-a.conflist'));
  const { broken } = loadNetwork(dir.path, 'b');
  assert.match(
    String(broken[0]?.error),
    /error reading .*10-a\.conflist: .*illegal operation on a directory/,
  );
});

test('a pipe, a device and what is far too large are told, and neither waited for nor read', () => {
  using dir = new ConfigDir({ '10-podnet.conflist': list('podnet') });
  execFileSync('mkfifo', [join(dir.path, '20-pipe.conflist')]);
  symlinkSync('/dev/zero', join(dir.path, '30-device.conf'));
  dir.write('40-large.conf', '');
  truncateSync(join(dir.path, '40-large.conf'), 16 << 20);
  const { networks, broken } = listConfigDir(dir.path);
  assert.deepEqual(
    networks.map(({ list }) => list.name),
    ['podnet'],
  );
  assert.deepEqual(
    broken.map(({ error }) => /no regular file|too many for a configuration/.exec(String(error))?.[0]),
    ['no regular file', 'no regular file', 'too many for a configuration'],
  );
});

test('plugins from the folder named for the network follow those of the list', () => {
  using dir = new ConfigDir({
    '10-a.conflist': list('a'),
    'a/20-second.conf': { type: 'second' },
    'a/10-first.conf': { type: 'first' },
    'a/30-other.json': { type: 'other' },
  });
  assert.deepEqual(types(loadNetwork(dir.path, 'a').list), ['bridge', 'first', 'second']);
  assert.deepEqual(types(loadNetworkFile(join(dir.path, '10-a.conflist'))), ['bridge', 'first', 'second']);
});

test('a list may have all its plugins in the folder, but none at all is an error', () => {
  using dir = new ConfigDir({
    '10-a.conflist': { name: 'a', cniVersion: '1.0.0' },
    'a/10-first.conf': { type: 'first' },
    '20-b.conflist': { name: 'b', cniVersion: '1.0.0' },
  });
  assert.deepEqual(types(loadNetwork(dir.path, 'a').list), ['first']);
  assert.throws(() => loadNetwork(dir.path, 'b'), /no plugin configs found$/);
});

test('loadOnlyInlinedPlugins leaves the folder alone', () => {
  using dir = new ConfigDir({
    '10-a.conflist': list('a', 'bridge', { loadOnlyInlinedPlugins: true }),
    'a/10-first.conf': { type: 'first' },
    '20-b.conflist': { name: 'b', loadOnlyInlinedPlugins: 'true' },
  });
  assert.deepEqual(types(loadNetwork(dir.path, 'a').list), ['bridge']);
  assert.throws(() => loadNetwork(dir.path, 'b'), /`loadOnlyInlinedPlugins` is true, and no 'plugins' key/);
});

test('a network name cannot lead the folder elsewhere', () => {
  using dir = new ConfigDir({
    'net.d/10-a.conflist': { name: '../outside' },
    'outside/10-first.conf': { type: 'first' },
  });
  assert.throws(
    () => loadNetwork(join(dir.path, 'net.d'), '../outside'),
    /invalid characters found in network name/,
  );
});

test('plugins from the folder are in the cache too, so that DEL does not need the folder', async () => {
  using dir = new ConfigDir({ '10-a.conflist': list('a', 'one'), 'a/10-two.conf': { type: 'two', key: 1 } });
  using stubs = new StubPlugins('one', 'two');
  const runtime = stubs.runtime();
  const pod = { containerID: 'c1', ifName: 'eth0', netns: '/run/netns/c1' };
  await runtime.add(loadNetwork(dir.path, 'a').list, pod);
  rmSync(join(dir.path, 'a'), { recursive: true });
  await runtime.del(loadNetwork(dir.path, 'a').list, pod);
  assert.deepEqual(stubs.commands(), ['ADD one', 'ADD two', 'DEL two', 'DEL one']);
  assert.equal(stubs.calls()[2]?.stdin['key'], 1);
});

test('the default network is the first valid one by file name, whatever its extension', () => {
  using dir = new ConfigDir({
    '05-broken.conflist': '{',
    '10-a.conf': conf('a'),
    '20-b.conflist': list('b'),
  });
  const { list: found, broken } = defaultNetwork(dir.path);
  assert.equal(found.name, 'a');
  assert.deepEqual(
    broken.map(({ path }) => path),
    [join(dir.path, '05-broken.conflist')],
  );
  dir.write('00-z.conflist', list('z'));
  assert.equal(defaultNetwork(dir.path).list.name, 'z');
  assert.throws(() => defaultNetwork('/nonexistent'), { msg: 'no net configurations found in /nonexistent' });
});

test('a file by its path: what is wrong with it is an error', () => {
  using dir = new ConfigDir({ '10-a.conf': conf('a'), 'bad.conflist': '{', 'a.yaml': '' });
  const load = (name: string) => () => loadNetworkFile(join(dir.path, name));
  assert.equal(load('10-a.conf')().name, 'a');
  assert.throws(load('bad.conflist'), /error parsing configuration list: /);
  assert.throws(load('a.yaml'), /must end in \.conflist, \.conf or \.json/);
  assert.throws(load('missing.conf'), (error) => {
    const path = join(dir.path, 'missing.conf');
    return (error as Error).message.startsWith(
      `error reading ${path}: open ${path}: no such file or directory`,
    );
  });
});
