import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeddleError } from '@heddle/errors';
import * as v from 'valibot';
import { CniError, type Result, versionsFrom } from '../index.ts';
import { definePlugin, ownerTag, type PluginDefinition, serve, tagKey } from './index.ts';
import { type TestHostOptions, testHost } from './testing/host.ts';

const RESULT: Result = { cniVersion: '1.1.0', ips: [{ address: '192.0.2.5/24' }] };

type Verbs = Partial<PluginDefinition<{ mtu: number }>>;

function plugin(verbs: Verbs = {}) {
  const nothing = async () => undefined;
  return definePlugin({
    type: 'test',
    kind: 'main',
    about: 'for tests',
    config: v.object({ mtu: v.optional(v.number(), 0) }),
    add: async () => RESULT,
    del: nothing,
    check: nothing,
    gc: nothing,
    status: nothing,
    ...verbs,
  });
}

const ENV = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'c1',
  CNI_NETNS: '/run/netns/c1',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
};

async function call(
  verbs: Verbs,
  env: Record<string, string | undefined>,
  config: unknown = {},
  host: TestHostOptions = {},
) {
  const stdin =
    typeof config === 'string'
      ? config
      : JSON.stringify({ name: 'n1', cniVersion: '1.1.0', type: 'test', ...(config as object) });
  const outcome = await serve(
    plugin(verbs),
    { env: { ...ENV, ...env }, readStdin: () => Buffer.from(stdin) },
    testHost(host),
  );
  return { ...outcome, json: outcome.stdout === '' ? undefined : JSON.parse(outcome.stdout) };
}

test('ADD prints the result in the version of the configuration, with four spaces and no newline', async () => {
  const { stdout, exitCode } = await call({}, {}, { cniVersion: '0.4.0' });
  assert.equal(exitCode, 0);
  assert.equal(
    stdout,
    '{\n    "cniVersion": "0.4.0",\n    "ips": [\n        {\n            "version": "4",\n            "address": "192.0.2.5/24"\n        }\n    ],\n    "dns": {}\n}',
  );
});

test('without CNI_COMMAND it says on stderr what it is', async () => {
  const outcome = await serve(
    plugin(),
    { env: {}, readStdin: () => assert.fail('stdin was read') },
    testHost(),
  );
  assert.equal(outcome.exitCode, 0);
  assert.equal(outcome.stdout, '');
  assert.match(outcome.stderr, /^CNI test plugin .*\nCNI protocol versions supported: 0\.1\.0, .*1\.1\.0\n$/);
});

test('VERSION answers in one line, in the version that it was asked with', async () => {
  const env = { CNI_COMMAND: 'VERSION', CNI_NETNS: 'dummy' };
  const answer = async (readStdin: () => Uint8Array) =>
    (await serve(plugin(), { env, readStdin }, testHost())).stdout;
  const asked = (text: string) => () => new TextEncoder().encode(text);
  const rest = '"supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}\n';
  assert.equal(await answer(asked('{ "cniVersion" : "0.4.0" }')), `{"cniVersion":"0.4.0",${rest}`);
  for (const nothing of ['', '{}', 'nonsense', '{"cniVersion":"<script>"}', '{"cniVersion":7}']) {
    assert.equal(await answer(asked(nothing)), `{"cniVersion":"1.1.0",${rest}`);
  }
  assert.equal(await answer(() => assert.fail('stdin is closed')), `{"cniVersion":"1.1.0",${rest}`);
});

test('every missing variable is named at once, in the order of the table', async () => {
  const { json, exitCode } = await call({}, { CNI_NETNS: '', CNI_IFNAME: undefined });
  assert.equal(exitCode, 1);
  assert.deepEqual(json, { code: 4, msg: 'required env variables [CNI_NETNS,CNI_IFNAME] missing' });
});

for (const [what, env, config, code, msg] of [
  ['an unknown command', { CNI_COMMAND: 'FROB' }, {}, 4, /^unknown CNI_COMMAND: FROB$/],
  ['text that is no JSON', {}, '{"name":', 6, /^error unmarshall network config: /],
  ['a missing network name', {}, { name: '' }, 7, /^missing network name$/],
  ['a network name with a slash', {}, { name: '../x' }, 7, /^invalid characters found in network name$/],
  ['a cniVersion of the wrong type', {}, { cniVersion: 1 }, 6, /cniVersion must be a string/],
  ['a version that nobody knows', {}, { cniVersion: '1.2.3' }, 1, /^incompatible CNI versions$/],
  [
    'CHECK before 0.4.0',
    { CNI_COMMAND: 'CHECK' },
    { cniVersion: '0.3.1' },
    1,
    /^config version does not allow CHECK$/,
  ],
  [
    'GC before 1.1.0',
    { CNI_COMMAND: 'GC' },
    { cniVersion: '1.0.0' },
    1,
    /^config version does not allow GC$/,
  ],
  [
    'STATUS before 1.1.0',
    { CNI_COMMAND: 'STATUS' },
    { cniVersion: '1.0.0' },
    1,
    /^config version does not allow STATUS$/,
  ],
  ['a container ID with a slash', { CNI_CONTAINERID: 'a/b' }, {}, 4, /^invalid characters in containerID$/],
  [
    'an interface name that is too long',
    { CNI_IFNAME: 'a'.repeat(16) },
    {},
    4,
    /^interface name is too long$/,
  ],
  ['a namespace that is not there', { CNI_NETNS: '/nope' }, {}, 3, /failed to open netns "\/nope": .*ENOENT/],
  ['a setting of the wrong type', {}, { mtu: '1500' }, 7, /test configuration: mtu: expected .*"1500"/],
] as const) {
  test(`${what} is answered with code ${code}`, async () => {
    const { json, exitCode } = await call({}, env, config);
    assert.equal(exitCode, 1);
    assert.equal(json.code, code);
    assert.match(json.msg, msg);
  });
}

test('a version that the plugin does not speak is refused with both lists', async () => {
  const { json } = await call({ versions: versionsFrom('0.4.0') }, {}, { cniVersion: '0.3.1' });
  assert.equal(json.code, 1);
  assert.equal(json.details, 'config is "0.3.1", plugin supports ["0.4.0" "1.0.0" "1.1.0"]');
});

test('a plugin too old for GC says so', async () => {
  const { json } = await call({ versions: ['0.4.0', '1.0.0'] }, { CNI_COMMAND: 'GC' });
  assert.equal(json.msg, 'plugin version does not allow GC');
});

test('stdin that cannot be read is code 5', async () => {
  const readStdin = () => {
    throw new Error('EBADF');
  };
  const { stdout } = await serve(plugin(), { env: ENV, readStdin }, testHost());
  assert.deepEqual(JSON.parse(stdout), { code: 5, msg: 'error reading from stdin: EBADF' });
});

test("the plugin's own namespace is refused before anything is done, unless overridden", async () => {
  const verbs = { add: async () => assert.fail('ADD ran') };
  const namespaces = { '/run/netns/c1': 'host' };
  const { json } = await call(verbs, {}, {}, { namespaces });
  assert.equal(json.code, 8);
  assert.equal(json.msg, "plugin's netns and netns from CNI_NETNS should not be the same");
  const { exitCode } = await call({}, { CNI_NETNS_OVERRIDE: 'True' }, {}, { namespaces });
  assert.equal(exitCode, 0);
});

test('address management does not ask for the namespace', async () => {
  const { exitCode } = await call({ kind: 'ipam' }, { CNI_NETNS: '/some/where' });
  assert.equal(exitCode, 0);
});

test("a plugin's own error keeps its code, anything else is 999 and shows its stack on stderr", async () => {
  const typed = await call(
    { add: async () => Promise.reject(new CniError(11, 'try later', { cniDetails: 'full' })) },
    {},
  );
  assert.deepEqual(typed.json, { cniVersion: '1.1.0', code: 11, msg: 'try later', details: 'full' });
  assert.equal(typed.stderr, '');
  const defect = await call({ add: async () => Promise.reject(new TypeError('x is undefined')) }, {});
  assert.equal(defect.json.code, 999);
  assert.match(defect.stderr, /TypeError: x is undefined\s+at /);
});

test('a failed ADD takes its steps back, the last first', async () => {
  const log: string[] = [];
  const { exitCode } = await call(
    {
      add: async ({ undo }) => {
        undo.push('one', async () => void log.push('one'));
        undo.push('two', async () => void log.push('two'));
        throw new CniError(999, 'no');
      },
    },
    {},
  );
  assert.equal(exitCode, 1);
  assert.deepEqual(log, ['two', 'one']);
});

test('a result that the version cannot hold fails the ADD and takes it back', async () => {
  const log: string[] = [];
  const { json } = await call(
    {
      add: async ({ undo }) => {
        undo.push('all', async () => void log.push('undone'));
        return { cniVersion: '1.1.0', interfaces: [{ name: 'eth0' }] };
      },
    },
    {},
    { cniVersion: '0.2.0' },
  );
  assert.match(json.msg, /cannot convert: no valid IP addresses/);
  assert.deepEqual(log, ['undone']);
});

test('DEL goes on past problems and reports all of them; what is absent is no problem', async () => {
  const done: string[] = [];
  class Absent extends HeddleError {
    override readonly code = 'X';
    readonly errno = 'ENODEV';
  }
  const { json } = await call(
    {
      del: async ({ teardown }) => {
        await teardown.step('link', () => Promise.reject(new Absent('no link')));
        await teardown.step('rules', () => Promise.reject(new Error('rules are stuck')));
        await teardown.step('address', async () => void done.push('address'));
        throw new CniError(999, 'and the rest');
      },
    },
    { CNI_COMMAND: 'DEL' },
  );
  assert.deepEqual(done, ['address']);
  assert.match(json.msg, /and the rest; rules: rules are stuck/);
});

test('DEL without a namespace, and with a plain file in its place, still runs', async () => {
  for (const CNI_NETNS of ['', '/gone', '/file']) {
    let seen: unknown = 'not called';
    const del: Verbs['del'] = async ({ container }) => {
      seen = container;
    };
    const { exitCode } = await call(
      { del },
      { CNI_COMMAND: 'DEL', CNI_NETNS },
      {},
      { namespaces: { '/file': '' } },
    );
    assert.equal(exitCode, 0);
    assert.equal(seen, undefined);
  }
});

test('DEL goes on without a prevResult that it cannot read; ADD and CHECK refuse it', async () => {
  const prevResult = { cniVersion: '9.9.9' };
  const del = await call({}, { CNI_COMMAND: 'DEL' }, { prevResult });
  assert.equal(del.exitCode, 0);
  assert.match(del.stderr, /could not parse prevResult/);
  const check = await call({}, { CNI_COMMAND: 'CHECK' }, { prevResult });
  assert.match(check.json.msg, /could not parse prevResult/);
});

test('DEL goes on without members and arguments that are not valid; ADD and CHECK refuse them', async () => {
  let seen: unknown;
  const del: Verbs['del'] = async ({ config }) => {
    seen = config;
  };
  const outcome = await call(
    { del, argKeys: ['MAC'] },
    { CNI_COMMAND: 'DEL', CNI_ARGS: 'FOO=BAR' },
    { mtu: 'x' },
  );
  assert.equal(outcome.exitCode, 0);
  assert.deepEqual(seen, { mtu: 0 });
  assert.match(
    outcome.stderr,
    /mtu: expected .*going on without it\n.*unknown args.*going on without CNI_ARGS/,
  );
  assert.equal((await call({}, { CNI_COMMAND: 'CHECK' }, { mtu: 'x' })).json.code, 7);
});

test('CNI_ARGS are parsed only for a plugin that declares keys, and then strictly', async () => {
  const bad = { CNI_ARGS: 'FOO=BAR' };
  assert.equal((await call({}, bad)).exitCode, 0);
  const strict = await call({ argKeys: ['MAC'] }, bad);
  assert.match(strict.json.msg, /ARGS: unknown args \["FOO=BAR"\]/);
  let args: unknown;
  const add: Verbs['add'] = async (given) => {
    args = given.args;
    return RESULT;
  };
  await call({ argKeys: ['MAC'], add }, { CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAME=p;MAC=00:00:5e:00:53:01' });
  assert.equal((args as Record<string, string>)['MAC'], '00:00:5e:00:53:01');
});

test('both namespaces are open as long as the call lasts, and closed when it is over', async () => {
  const host = testHost();
  const add: Verbs['add'] = async ({ host: own, container }) => {
    assert.notEqual(own.netns.key, container.netns.key);
    await new Promise((next) => setImmediate(next));
    assert.deepEqual(host.closed, []);
    return RESULT;
  };
  await serve(
    plugin({ add }),
    { env: ENV, readStdin: () => Buffer.from('{"name":"n1","cniVersion":"1.1.0"}') },
    host,
  );
  assert.deepEqual(host.closed.toSorted(), ['netns c1', 'session c1', 'session host']);
});

test('DEL also forgets that an ADD of the same attachment was killed', async () => {
  const host = testHost();
  const readStdin = () => Buffer.from('{"name":"n1","cniVersion":"1.1.0"}');
  for (const CNI_COMMAND of ['ADD', 'CHECK', 'DEL']) {
    await serve(plugin(), { env: { ...ENV, CNI_COMMAND }, readStdin }, host);
  }
  const own = { network: 'n1', containerID: 'c1', ifName: 'eth0' };
  assert.deepEqual(host.forgotten, [tagKey(ownerTag(own))]);
});
