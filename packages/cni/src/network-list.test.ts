import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, DecodeError } from './errors.ts';
import { parseNetworkList, unknownListKeys, upconvert } from './network-list.ts';
import { parsePluginConfig } from './plugin-config.ts';

const utf8 = new TextEncoder();
const parse = (value: object | string, options = {}) =>
  parseNetworkList(utf8.encode(typeof value === 'string' ? value : JSON.stringify(value)), options);
const plugins = [{ type: 'bridge', ipam: { z: 1, a: 2 } }];
const sibling = parsePluginConfig(utf8.encode('{"type":"portmap"}'));

function reason(value: object | string, options = {}): string {
  try {
    parse(value, options);
  } catch (error) {
    assert.ok(error instanceof ConfigError || error instanceof DecodeError, String(error));
    return error.msg;
  }
  assert.fail('not refused');
}

test('a list is read; its bytes are the text as it was', () => {
  const text =
    '{"name":"n1", "cniVersion":"1.0.0","disableCheck":true,"plugins":[{"type":"bridge","ipam":{"z":1,"a":2}}]}';
  const list = parse(text, { file: '/etc/cni/net.d/10.conflist' });
  assert.equal(list.name, 'n1');
  assert.equal(list.cniVersion, '1.0.0');
  assert.equal(list.disableCheck, true);
  assert.equal(list.disableGC, false);
  assert.equal(list.file, '/etc/cni/net.d/10.conflist');
  assert.equal(list.isSingle, undefined);
  assert.equal(new TextDecoder().decode(list.bytes), text);
  const [bridge] = list.plugins;
  assert.equal(new TextDecoder().decode(bridge?.bytes), '{"ipam":{"a":2,"z":1},"type":"bridge"}');
});

test('what the reference refuses is refused, in its words where tools match on them', () => {
  const list = 'error parsing configuration list: ';
  assert.equal(reason(''), `${list}unexpected end of JSON input`);
  assert.equal(reason({ plugins }), `${list}no name`);
  assert.equal(reason({ name: 5, plugins }), `${list}name: expected a string, got 5`);
  assert.equal(reason({ name: 'n', cniVersion: 1, plugins }), `${list}cniVersion: expected a string, got 1`);
  assert.equal(
    reason({ name: 'n', disableCheck: 'maybe', plugins }),
    `${list}invalid value "maybe" for disableCheck`,
  );
  assert.equal(
    reason({ name: 'n', loadOnlyInlinedPlugins: 'x', plugins }),
    `${list}invalid value "x" for loadOnlyInlinedPlugins`,
  );
  assert.equal(
    reason({ name: 'n', disableGC: 1, plugins }),
    `${list}disableGC: expected true or false, got 1`,
  );
  assert.equal(
    reason({ name: 'n', loadOnlyInlinedPlugins: true }),
    `${list}\`loadOnlyInlinedPlugins\` is true, and no 'plugins' key`,
  );
  assert.equal(reason({ name: 'n', plugins: [] }), `${list}no plugins in list`);
  assert.equal(reason({ name: 'n', plugins: {} }), `${list}plugins: expected a list, got an object`);
  assert.equal(reason({ name: 'n', plugins: [{ type: 'a' }, {}] }), `${list}plugin 1: missing 'type'`);
  assert.equal(reason({ name: 'n', plugins: [5] }), `${list}plugin 0: expected an object, got 5`);
  assert.equal(reason([]), `${list}expected an object, got an empty list`);
});

test('flags may be texts in any letter case', () => {
  const list = parse({ name: 'n', plugins, disableCheck: 'TRUE', disableGC: 'False' });
  assert.deepEqual([list.disableCheck, list.disableGC], [true, false]);
});

test('problems inside a plugin have their place in the file', () => {
  const text =
    '{\n "name": "n",\n "plugins": [\n  {"type": "a"},\n  {"type": "b", "Capabilities": {"mac": "yes"}}\n ]\n}';
  assert.throws(
    () => parse(text, { file: 'a.conflist' }),
    (error) =>
      error instanceof ConfigError &&
      error.message ===
        'a.conflist:5:41: error parsing configuration list: plugin 1: capabilities.mac: expected true or false, got "yes" (a string)',
  );
});

test('a list negotiates its version', () => {
  const version = (cniVersions: unknown, cniVersion?: string) =>
    parse({ name: 'n', plugins, cniVersion, cniVersions }).cniVersion;
  assert.equal(version(['0.4.0', '1.0.0', '9.9.9'], '0.3.1'), '1.0.0');
  assert.equal(version(['9.9.9'], '0.3.1'), '0.3.1');
  assert.equal(version([], undefined), '');
  assert.equal(parse({ name: 'n', plugins, cniVersion: '1.2.3' }).cniVersion, '1.2.3', 'taken as it is');
  assert.match(reason({ name: 'n', plugins, cniVersions: ['broken'] }), /invalid version "broken"/);
  assert.match(reason({ name: 'n', plugins, cniVersions: [1] }), /expected a string, got 1/);
  assert.match(reason({ name: 'n', plugins, cniVersions: 'x' }), /expected a list of versions/);
});

test('the keys of a list are matched exactly, and a near miss is pointed out', () => {
  assert.equal(parse({ name: 'n', plugins, DisableCheck: true }).disableCheck, false);
  assert.throws(() => parse({ Name: 'n', plugins }), {
    hint: 'there is a key "Name", but it must be spelled "name"',
  });
  assert.deepEqual(unknownListKeys({ name: 'n', disableCheeck: true, other: 1 }), [
    { pointer: '', key: 'disableCheeck', suggestion: 'disableCheck' },
    { pointer: '', key: 'other' },
  ]);
});

test('a single plugin in a file for a list is recognised', () => {
  assert.throws(
    () => parse({ cniVersion: '1.0.0', name: 'n', type: 'bridge' }, { file: 'a.conflist' }),
    /a\.conflist:1:41: .*no 'plugins' key; this is the configuration of a single plugin/,
  );
});

test('plugins of the folder are appended, unless the list wants only its own', () => {
  const types = (value: object) => parse(value, { siblings: [sibling] }).plugins.map(({ type }) => type);
  assert.deepEqual(types({ name: 'n', plugins }), ['bridge', 'portmap']);
  assert.deepEqual(types({ name: 'n' }), ['portmap']);
  assert.deepEqual(types({ name: 'n', plugins, loadOnlyInlinedPlugins: true }), ['bridge']);
  assert.equal(reason({ name: 'n' }, { siblings: [] }), 'no plugin configs found');
  assert.equal(parse({ name: 'n' }).plugins.length, 0, 'from bytes, a list may be empty');
});

test('the folder is only looked for under a name that is safe in a path', () => {
  const asked: string[] = [];
  const siblings = (network: string) => {
    asked.push(network);
    return [sibling];
  };
  parse({ name: 'n1', plugins }, { siblings });
  assert.throws(() => parse({ name: '../x', plugins }, { siblings }), { cniCode: 7 });
  parse({ name: '../x', plugins, loadOnlyInlinedPlugins: true }, { siblings });
  assert.deepEqual(asked, ['n1']);
});

test('a single configuration becomes a list with generated bytes', () => {
  const conf = parsePluginConfig(utf8.encode('{"type":"bridge","name":"n","cniVersion":"0.4.0","mtu":1}'));
  const list = upconvert(conf, { file: 'a.conf' });
  assert.equal(list.isSingle, true);
  assert.equal(list.file, 'a.conf');
  assert.deepEqual([list.name, list.cniVersion, list.plugins.length], ['n', '0.4.0', 1]);
  assert.equal(
    new TextDecoder().decode(list.bytes),
    '{"cniVersion":"0.4.0","name":"n","plugins":[{"cniVersion":"0.4.0","mtu":1,"name":"n","type":"bridge"}]}',
  );
  assert.equal(upconvert(sibling).name, '');
});
