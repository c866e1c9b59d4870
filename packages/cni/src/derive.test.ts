import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveStdin, prevResultFor } from './derive.ts';
import { goJson } from './go-json.ts';
import { parseNetworkList } from './network-list.ts';

const text = `{"cniVersion":"1.1.0","name":"n1","plugins":[
  {"type":"bridge","ipam":{"type":"host-local"}},
  {"type":"portmap","capabilities":{"portMappings":true,"mac":false}}]}`;
const list = parseNetworkList(new TextEncoder().encode(text));
const [bridge, portmap] = list.plugins;
assert.ok(bridge !== undefined && portmap !== undefined);
const capabilityArgs = { portMappings: [{ hostPort: 80 }], mac: '02:00:00:00:00:01' };

test('each plugin gets its object with name, version and what it asked for', () => {
  assert.equal(
    goJson(deriveStdin(list, bridge, { capabilityArgs })),
    '{"cniVersion":"1.1.0","ipam":{"type":"host-local"},"name":"n1","type":"bridge"}',
  );
  const prevResult = { cniVersion: '1.1.0', ips: [] };
  assert.equal(
    JSON.stringify(deriveStdin(list, portmap, { capabilityArgs, prevResult })),
    '{"capabilities":{"mac":false,"portMappings":true},"cniVersion":"1.1.0","name":"n1","prevResult":{"cniVersion":"1.1.0","ips":[]},"runtimeConfig":{"portMappings":[{"hostPort":80}]},"type":"portmap"}',
  );
});

test('GC gets the attachments that are alive under both keys, null as null', () => {
  const attachments = [{ containerID: 'c1', ifname: 'eth0' }];
  const stdin = deriveStdin(list, portmap, { attachments });
  assert.deepEqual(stdin['cni.dev/valid-attachments'], attachments);
  assert.deepEqual(stdin['cni.dev/attachments'], attachments);
  assert.equal(deriveStdin(list, portmap, { attachments: null })['cni.dev/attachments'], null);
  assert.ok(!('cni.dev/attachments' in deriveStdin(list, portmap)));
});

test("the operator's runtimeConfig stays until a capability matches, then it is replaced", () => {
  const raw = { type: 'x', runtimeConfig: { own: 1 }, prevResult: { old: true } };
  const plugin = { raw, capabilities: { mac: true } };
  assert.deepEqual(deriveStdin(list, plugin)['runtimeConfig'], { own: 1 });
  assert.deepEqual(deriveStdin(list, plugin, { capabilityArgs: { ips: [] } })['runtimeConfig'], { own: 1 });
  assert.deepEqual(deriveStdin(list, plugin, { capabilityArgs })['runtimeConfig'], {
    mac: '02:00:00:00:00:01',
  });
  assert.deepEqual(
    deriveStdin(list, plugin)['prevResult'],
    { old: true },
    'none injected: the one written stays',
  );
});

test('an injected member comes after any other spelling of its name, and so wins', () => {
  const plugin = { raw: { name: 'mine', Name: 'other', type: 'x' }, capabilities: {} };
  assert.deepEqual(Object.entries(deriveStdin(list, plugin)), [
    ['Name', 'other'],
    ['cniVersion', '1.1.0'],
    ['name', 'n1'],
    ['type', 'x'],
  ]);
});

test('capabilities are own members, and have names', () => {
  const plugin = { raw: { type: 'x' }, capabilities: { '': true } };
  assert.throws(() => deriveStdin(list, plugin, { capabilityArgs: { '': 1 } }), {
    message: 'keys cannot be empty',
  });
  const inherited = deriveStdin(
    list,
    { raw: { type: 'x' }, capabilities: {} },
    { capabilityArgs: { toString: 1 } },
  );
  assert.ok(!('runtimeConfig' in inherited));
});

test('which previous result a command gets', () => {
  assert.equal(prevResultFor('ADD', '1.1.0'), 'previous plugin');
  assert.equal(prevResultFor('CHECK', '0.4.0'), 'cache');
  assert.equal(prevResultFor('DEL', '0.4.0'), 'cache');
  assert.equal(prevResultFor('DEL', '0.3.1'), 'none');
  assert.equal(prevResultFor('DEL', ''), 'none');
  for (const command of ['GC', 'STATUS', 'VERSION'] as const)
    assert.equal(prevResultFor(command, '1.1.0'), 'none');
});
