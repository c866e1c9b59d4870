import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, DecodeError } from './errors.ts';
import { parsePluginConfig } from './plugin-config.ts';

const utf8 = new TextEncoder();
const parse = (text: string, file?: string) =>
  parsePluginConfig(utf8.encode(text), file === undefined ? {} : { file });

test('the runtime reads a few members and keeps the whole object', () => {
  const text =
    '{"Type":"bridge","name":"n1","cniVersion":"1.0.0","IPAM":{"Type":"host-local"},"capabilities":{"mac":true},"bridge":"cni0","dns":{"nameServers":["192.0.2.53"]},"prevResult":{"ips":[]}}';
  const { bytes, raw, ...view } = parse(text);
  assert.deepEqual(view, {
    type: 'bridge',
    name: 'n1',
    cniVersion: '1.0.0',
    capabilities: { mac: true },
    ipamType: 'host-local',
    dns: { nameservers: ['192.0.2.53'] },
    prevResult: { ips: [] },
  });
  assert.deepEqual(raw, JSON.parse(text));
  assert.equal(new TextDecoder().decode(bytes), text);
});

test('only the type is required', () => {
  const { bytes: _, ...conf } = parse('{"type":"x"}');
  assert.deepEqual(conf, { type: 'x', capabilities: {}, raw: { type: 'x' } });
  for (const text of ['{}', '{"type":""}', '{"type":null}', '{"name":"n"}']) {
    assert.throws(
      () => parse(text),
      { name: 'ConfigError', message: "error parsing configuration: missing 'type'" },
      text,
    );
  }
});

test('texts of the reference for what it also refuses', () => {
  assert.throws(() => parse(''), { msg: 'error parsing configuration: unexpected end of JSON input' });
  assert.throws(() => parse('{"type"'), { msg: 'error parsing configuration: unexpected end of JSON input' });
  for (const text of [
    '[]',
    '"x"',
    '5',
    'null',
    '{"type":5}',
    '{"type":"x","capabilities":{"a":"b"}}',
    '{"type":"x","dns":{"search":"x"}}',
  ]) {
    assert.throws(
      () => parse(text),
      { name: 'ConfigError', message: /^error parsing configuration: / },
      text,
    );
  }
});

test('a comma too many is found, with its line and column (kubernetes/kubernetes#53536)', () => {
  const text =
    '{"cniVersion":"1.0.0","name":"n1","type":"bridge",\n"ipam":{"type":"host-local","subnet":"192.0.2.0/24",}}';
  assert.throws(
    () => parse(text, '/etc/cni/net.d/10-a.conf'),
    (error) =>
      error instanceof DecodeError &&
      error.line === 2 &&
      error.column === 52 &&
      error.message.startsWith('/etc/cni/net.d/10-a.conf:2:52: '),
  );
});

test('a list in a file for a single plugin is recognised (containerd/containerd#11076)', () => {
  const text = '{"cniVersion":"1.0.0","name":"n2","plugins":[{"type":"loopback"}]}';
  assert.throws(
    () => parse(text, '10-x.conf'),
    (error) =>
      error instanceof ConfigError &&
      error.message.startsWith("10-x.conf:1:45: error parsing configuration: missing 'type'; ") &&
      error.message.includes('.conflist'),
  );
});
