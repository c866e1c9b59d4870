/** Reports about directories of network configurations. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type JsonObject, NetworkNotFoundError, selectNetwork } from '@heddle/cni';
import { defaultNetwork, listConfigDir, loadNetwork, readConfigDir } from '@heddle/cni/runtime';
import { CaseNode } from './case-node.ts';

const bridgeList = (name: string, bridge = 'hdcase0', subnet = '192.0.2.0/24'): JsonObject => ({
  cniVersion: '1.0.0',
  name,
  plugins: [{ type: 'bridge', bridge, ipam: { type: 'host-local', subnet } }],
});
const loopbackList = (name: string, more: JsonObject = {}): JsonObject => ({
  cniVersion: '1.0.0',
  name,
  plugins: [{ type: 'loopback', ...more }],
});

test('kubernetes/kubernetes#53536: a comma too many is refused with its place, and hides no other network', () => {
  using node = new CaseNode();
  const broken = node.config(
    '10-a.conf',
    '{"cniVersion":"1.0.0","name":"n1","type":"bridge",\n"ipam":{"type":"host-local","subnet":"192.0.2.0/24",}}',
  );
  const good = node.config('20-b.conflist', loopbackList('b'));

  const { status, stderr } = node.heddle('status', ['n1']);
  assert.equal(status, 1);
  assert.match(stderr, /no net configuration with name "n1"/);
  assert.ok(stderr.includes(`${broken}:2:52: `), stderr);
  assert.match(stderr, /unexpected comma before }/);

  assert.deepEqual(node.heddle('status', ['b']), { status: 0, stdout: '', stderr: '' });
  const inForce = defaultNetwork(node.configDir);
  assert.equal(inForce.path, good);
  assert.deepEqual(
    inForce.broken.map(({ path }) => path),
    [broken],
  );
});

test('containerd/containerd#11076: a list in a .conf file is told to want the extension .conflist', () => {
  using node = new CaseNode();
  const path = node.config('10-x.conf', loopbackList('n2'));
  const { status, stderr } = node.heddle('status', ['n2']);
  assert.equal(status, 1);
  assert.ok(stderr.includes(`${path}:1:`), stderr);
  assert.match(stderr, /this is a list of plugins: the name of its file must end in \.conflist/);
});

test('containerd/cri#889: of two files with one network name the first attaches, once, and both are named', () => {
  using node = new CaseNode();
  const ipam = { type: 'host-local', subnet: '192.0.2.0/24', dataDir: node.dataDir };
  const bridge = { type: 'bridge', bridge: 'hdcase0', ipam };
  const first = node.config('00-w.conflist', {
    cniVersion: '1.0.0',
    name: 'w',
    plugins: [bridge, { type: 'portmap', capabilities: { portMappings: true } }],
  });
  const second = node.config('10-w.conf', { cniVersion: '1.0.0', name: 'w', ...bridge });
  using pod = node.pod('c1');

  const { status, stderr } = node.heddle('add', ['w', pod.path, '--container-id', 'c1']);
  assert.equal(status, 0, stderr);
  assert.equal(stderr, `heddle: warning: ${second} has no effect: ${first} defines network "w" already\n`);
  assert.equal(node.run('ip', '-o', 'link', 'show', 'type', 'veth').trim().split('\n').length, 1);
  assert.deepEqual(listConfigDir(node.configDir).duplicates, [{ name: 'w', paths: [first, second] }]);
  assert.equal(node.heddle('del', ['w', pod.path, '--container-id', 'c1']).status, 0);
  assert.equal(node.run('ip', '-o', 'link', 'show', 'type', 'veth'), '');
});

test('k8snetworkplumbingwg/multus-cni#1499: the first file to appear is not in force for good', async () => {
  using node = new CaseNode();
  using pod = node.pod('c1');
  node.stub('early');
  node.stub('chain', { ADD: `printf '{"ips":[{"address":"192.0.2.5/24"}]}'` });
  const early = node.config('10-b.conflist', { ...loopbackList('b'), plugins: [{ type: 'early' }] });
  assert.equal(defaultNetwork(node.configDir).path, early);
  // A network that is asked for by name is waited for, never replaced by another one.
  assert.throws(() => loadNetwork(node.configDir, 'a'), NetworkNotFoundError);

  const late = node.config('05-a.conflist', { ...loopbackList('a'), plugins: [{ type: 'chain' }] });
  const { path, list } = defaultNetwork(node.configDir);
  assert.equal(path, late);
  await node.cni.add(list, pod.attachment);
  assert.deepEqual(node.calls(), ['ADD chain c1']);
  assert.equal(loadNetwork(node.configDir, 'a').path, late);
});

test('podman-container-tools/podman#9041: a file that vanishes after the directory was listed is passed over', () => {
  using node = new CaseNode();
  const gone = node.config('10-a.conflist', loopbackList('a'));
  const kept = node.config('20-b.conflist', loopbackList('b'));
  const files = readConfigDir(node.configDir);
  unlinkSync(gone);
  const { path, broken } = selectNetwork(files, 'b');
  assert.equal(path, kept);
  assert.deepEqual(broken, []);
});

test('podman-container-tools/podman#9041: a file that may not be read is told, and hides no other', () => {
  using node = new CaseNode();
  const secret = node.config('10-a.conflist', loopbackList('a'));
  const open = node.config('20-b.conflist', loopbackList('b'));
  chmodSync(node.directory, 0o755);
  chmodSync(secret, 0o600);
  const { path, broken } = asUser(1000, () => loadNetwork(node.configDir, 'b'));
  assert.equal(path, open);
  assert.match(String(broken[0]?.error), /error reading .*10-a\.conflist: .*permission denied/);
});

test('podman-container-tools/podman#11590: of two networks with one name the same one is always found, and both are named', () => {
  using node = new CaseNode();
  const paths = [
    node.config('87-p.conflist', bridgeList('p', 'hdcase0', '192.0.2.0/24')),
    node.config('88-p.conflist', bridgeList('p', 'hdcase1', '198.51.100.0/24')),
  ];
  const { networks, duplicates } = listConfigDir(node.configDir);
  assert.deepEqual(
    networks.map(({ path }) => path),
    paths.slice(0, 1),
  );
  assert.deepEqual(duplicates, [{ name: 'p', paths }]);
  const { path, shadowed } = loadNetwork(node.configDir, 'p');
  assert.deepEqual([path, ...shadowed], paths);
  const { status, stderr } = node.heddle('status', ['p']);
  assert.equal(status, 0);
  for (const each of paths) assert.ok(stderr.includes(each), stderr);
});

test('containerd/containerd#6490: a directory that is removed and made again is read again', () => {
  using node = new CaseNode();
  const marked = () => defaultNetwork(node.configDir).list.plugins[0]?.raw['mark'];
  const write = (directory: string, mark: string) => {
    mkdirSync(directory);
    writeFileSync(join(directory, '10-a.conflist'), JSON.stringify(loopbackList('a', { mark })));
  };
  rmSync(node.configDir, { recursive: true });
  write(node.configDir, 'first');
  assert.equal(marked(), 'first');

  rmSync(node.configDir, { recursive: true });
  const { status, stderr } = node.heddle('status', ['a']);
  assert.equal(status, 1);
  assert.equal(stderr, `heddle: no net configurations found in ${node.configDir}\n`);
  assert.throws(marked, NetworkNotFoundError);
  write(node.configDir, 'second');
  assert.equal(marked(), 'second');

  // The same when it is a link that leads elsewhere now.
  rmSync(node.configDir, { recursive: true });
  for (const mark of ['third', 'fourth']) {
    write(join(node.directory, mark), mark);
    symlinkSync(mark, join(node.directory, 'link'));
    renameSync(join(node.directory, 'link'), node.configDir);
    assert.equal(marked(), mark);
  }
});

test('containerd/containerd#11715: a file that is replaced by renaming is the one in force', () => {
  using node = new CaseNode();
  const marked = () => defaultNetwork(node.configDir).list.plugins[0]?.raw['mark'];
  const path = node.config('10-a.conflist', loopbackList('a', { mark: 'old' }));
  assert.equal(marked(), 'old');
  const next = node.config('new', loopbackList('a', { mark: 'new' }));
  renameSync(path, join(node.directory, 'x'));
  renameSync(next, path);
  chmodSync(path, 0o640);
  chownSync(path, 1000, 1000);
  assert.equal(marked(), 'new');
});

test('containerd/containerd#8020: directories that installation makes are open to everybody, whatever the umask', () => {
  using node = new CaseNode();
  chmodSync(node.directory, 0o755);
  const etc = join(node.directory, 'etc');
  const places = ['--conf-dir', join(etc, 'cni/net.d'), '--dir', join(node.directory, 'opt/cni/bin')];
  const umask = process.umask(0o077);
  try {
    const { status, stderr } = node.heddle('install', [...places, '--from', 'build/plugins']);
    assert.equal(status, 0, stderr);
  } finally {
    process.umask(umask);
  }
  for (const directory of ['etc', 'etc/cni', 'etc/cni/net.d', 'opt', 'opt/cni', 'opt/cni/bin']) {
    assert.equal(statSync(join(node.directory, directory)).mode & 0o777, 0o755, directory);
  }
  const { networks, broken } = asUser(1000, () => listConfigDir(join(etc, 'cni/net.d')));
  assert.deepEqual(
    networks.map(({ list }) => list.name),
    ['heddle'],
  );
  assert.deepEqual(broken, []);
});

/** Runs something synchronous with the rights of another user. */
function asUser<T>(uid: number, run: () => T): T {
  process.seteuid?.(uid);
  try {
    return run();
  } finally {
    process.seteuid?.(0);
  }
}
