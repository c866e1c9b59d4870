import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CniError, ConfigError, DecodeError } from './errors.ts';
import {
  type ConfigFile,
  isConfigPath,
  listNetworks,
  NetworkNotFoundError,
  selectNetwork,
} from './network-files.ts';

const utf8 = new TextEncoder();

function file(path: string, content: object | string): ConfigFile {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return { path: `/net.d/${path}`, read: () => utf8.encode(text) };
}

function failing(path: string, failure: object): ConfigFile {
  return {
    path: `/net.d/${path}`,
    read: () => {
      throw Object.assign(new Error(`open /net.d/${path}`), failure);
    },
  };
}

const list = (name: string, type = 'bridge') => ({ cniVersion: '1.0.0', name, plugins: [{ type }] });
const single = (name: string, type = 'bridge') => ({ cniVersion: '1.0.0', name, type });

test('lists come before single configurations, whatever their file names (containerd/cri#889)', () => {
  const files = [file('00-w.conf', single('w', 'macvlan')), file('90-w.conflist', list('w'))];
  const found = selectNetwork(files, 'w');
  assert.equal(found.path, '/net.d/90-w.conflist');
  assert.equal(found.list.isSingle, undefined);
  assert.deepEqual(found.shadowed, ['/net.d/00-w.conf'], 'the other file of that name is named');
});

test('among equals the byte order of paths decides', () => {
  const files = [
    file('b.conflist', list('p', 'two')),
    file('B.conflist', list('p', 'one')),
    file('a.json', single('j')),
    file('c.conf', single('j')),
  ];
  assert.equal(selectNetwork(files, 'p').list.plugins[0]?.type, 'one');
  assert.equal(selectNetwork(files, 'j').path, '/net.d/a.json');
});

test('other files, and other letter case of the extension, do not count', () => {
  for (const path of ['a.CONF', 'a.conflist.bak', 'a', 'a.yaml', 'conflist'])
    assert.equal(isConfigPath(path), false, path);
  assert.throws(() => selectNetwork([file('a.CONFLIST', list('p'))], 'p'), NetworkNotFoundError);
});

test('a broken file does not hide a good one', () => {
  const files = [
    file('10-a.conflist', '{"name":"n1","plugins":[{"type":"x"},]}'),
    file('20-b.conflist', list('n2')),
    file('30-c.conflist', 'garbage'),
  ];
  const found = selectNetwork(files, 'n2');
  assert.equal(found.path, '/net.d/20-b.conflist');
  assert.deepEqual(
    found.broken.map(({ path }) => path),
    ['/net.d/10-a.conflist'],
    'only what was looked at',
  );
  const [broken] = found.broken;
  assert.ok(broken?.error instanceof DecodeError && broken.error.line === 1 && broken.error.column === 37);
});

test('a network that is not there is said so, with the files it may be in', () => {
  const files = [file('10-a.conflist', '{'), file('20-b.conf', single('n2'))];
  assert.throws(
    () => selectNetwork(files, 'n1', { directory: '/net.d' }),
    (error) =>
      error instanceof NetworkNotFoundError &&
      error.msg === 'no net configuration with name "n1" in /net.d' &&
      error.broken.length === 1 &&
      /\/net\.d\/10-a\.conflist:1:2/.test(error.cniDetails ?? ''),
  );
  assert.throws(() => selectNetwork([], 'n1', { directory: '/net.d' }), {
    msg: 'no net configurations found in /net.d',
  });
});

test('a network that is not there is told with those that are, and the one that was perhaps meant', () => {
  const files = [file('10-a.conflist', list('podnet')), file('20-b.conf', single('other'))];
  assert.throws(() => selectNetwork(files, 'podnte'), {
    hint: 'did you mean "podnet"? there are: podnet, other',
  });
  assert.throws(() => selectNetwork(files, 'x'), { hint: 'there are: podnet, other' });
  const many = Array.from({ length: 12 }, (_, index) => file(`${index + 10}.conflist`, list(`n${index}`)));
  assert.throws(() => selectNetwork(many, 'x'), { hint: /^there are: n0, .*, n9, and 2 more$/ });
});

test('a broken file that names the network is an error: a later one does not take its place', () => {
  const files = [file('10-a.conflist', { name: 'n1', plugins: [{}] }), file('20-a.conflist', list('n1'))];
  assert.throws(
    () => selectNetwork(files, 'n1'),
    (error) => error instanceof ConfigError && error.file === '/net.d/10-a.conflist',
  );
  assert.throws(() => selectNetwork([file('x.conf', list('n2'))], 'n2'), /\.conflist/);
});

test('a file that vanishes is passed over; one that cannot be read is reported (podman#9041)', () => {
  const b = file('b.conflist', list('b'));
  for (const gone of [{ code: 'ENOENT' }, { errno: 'ENOENT' }, { code: 'NOT_FOUND' }]) {
    const found = selectNetwork([failing('a.conflist', gone), b], 'b');
    assert.deepEqual(found.broken, []);
  }
  const found = selectNetwork([failing('a.conflist', { errno: 'EACCES' }), b], 'b');
  assert.deepEqual(
    found.broken.map(({ path }) => path),
    ['/net.d/a.conflist'],
  );
});

test('plugins come from the folder that is named for the network', () => {
  const siblings = (listPath: string, network: string) => {
    assert.deepEqual([listPath, network], ['/net.d/10.conflist', 'n1']);
    return [
      file('n1/2.conf', { type: 'two' }),
      file('n1/1.conf', { type: 'one' }),
      file('n1/3.json', 'ignored'),
      failing('n1/0.conf', { code: 'ENOENT' }),
    ];
  };
  const found = selectNetwork([file('10.conflist', list('n1'))], 'n1', { siblings });
  assert.deepEqual(
    found.list.plugins.map(({ type }) => type),
    ['bridge', 'one', 'two'],
  );
  const bad = () => [file('n1/1.conf', '{}')];
  assert.throws(
    () => selectNetwork([file('10.conflist', list('n1'))], 'n1', { siblings: bad }),
    /missing 'type'/,
  );
  assert.throws(() => selectNetwork([file('10.conflist', { name: 'n1' })], 'n1'), {
    msg: '/net.d/10.conflist: no plugin configs found',
  });
});

test('listing shows what is in force, what is broken and what is there twice (podman#11590)', () => {
  const files = [
    file('87-p.conflist', list('p', 'first')),
    file('88-p.conflist', list('p', 'second')),
    file('10-x.conf', list('x')),
    file('20-y.conf', single('y')),
    failing('z.conf', { code: 'ENOENT' }),
  ];
  const { networks, broken, duplicates } = listNetworks(files);
  assert.deepEqual(
    networks.map(({ list: { name }, path }) => [name, path]),
    [
      ['p', '/net.d/87-p.conflist'],
      ['y', '/net.d/20-y.conf'],
    ],
  );
  assert.deepEqual(
    broken.map(({ path }) => path),
    ['/net.d/10-x.conf'],
  );
  assert.deepEqual(duplicates, [{ name: 'p', paths: ['/net.d/87-p.conflist', '/net.d/88-p.conflist'] }]);
});

test('every refusal is an error of the contract', () => {
  assert.ok(new NetworkNotFoundError('x', 'n', []) instanceof CniError);
});
