import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { definePlugin, type GcCall, ownerTag, type Plugin, serve, tagKey } from './index.ts';
import { testHost } from './testing/host.ts';

const ENV = { CNI_COMMAND: 'GC', CNI_PATH: '/opt/cni/bin' };
const IDS = ['c1', 'c2', 'c3'].map((containerID) => ({ containerID, ifName: 'eth0' }));

function collector(gc: (call: GcCall<object>) => Promise<void>): Plugin {
  const never = async () => assert.fail('only GC is asked for');
  return definePlugin({
    type: 'test',
    kind: 'main',
    about: 'for tests',
    config: v.object({}),
    add: never,
    del: never,
    check: never,
    status: never,
    gc,
  });
}

async function collect(keys: object, gc: (call: GcCall<object>) => Promise<void>, marks = new Set<string>()) {
  const config = { name: 'n1', cniVersion: '1.1.0', ...keys };
  const readStdin = () => Buffer.from(JSON.stringify(config));
  const outcome = await serve(collector(gc), { env: ENV, readStdin }, testHost({ marks }));
  return { ...outcome, json: outcome.stdout === '' ? undefined : JSON.parse(outcome.stdout) };
}

const valid = [{ containerID: 'c1', ifname: 'eth0' }];

test('GC without a list of valid attachments changes nothing and fails with code 7', async () => {
  const { json } = await collect({}, async () => assert.fail('GC ran'));
  assert.equal(json.code, 7);
  assert.match(json.msg, /cni\.dev\/valid-attachments.*nothing was changed/);
});

for (const [what, keys, expected] of [
  ["the specification's key", { 'cni.dev/valid-attachments': valid }, ['c2', 'c3']],
  ["the reference's second key", { 'cni.dev/attachments': valid }, ['c2', 'c3']],
  [
    'both keys, which disagree',
    { 'cni.dev/valid-attachments': valid, 'cni.dev/attachments': [{ containerID: 'c2', ifname: 'eth0' }] },
    ['c3'],
  ],
  ['an empty list', { 'cni.dev/valid-attachments': [] }, ['c1', 'c2', 'c3']],
  ['null', { 'cni.dev/valid-attachments': null }, ['c1', 'c2', 'c3']],
] as const) {
  test(`with ${what}, what is stale is ${expected.join(' and ')}`, async () => {
    let stale: readonly string[] = [];
    const { exitCode } = await collect(keys, async (call) => {
      stale = (
        await call.stale(
          async () => IDS,
          (id) => id,
        )
      ).map(({ containerID }) => containerID);
    });
    assert.equal(exitCode, 0);
    assert.deepEqual(stale, expected);
  });
}

test('a malformed list is refused before anything is done', async () => {
  for (const list of [{}, [1], [{ containerID: 'c1' }]]) {
    const { json } = await collect({ 'cni.dev/valid-attachments': list }, async () => assert.fail('GC ran'));
    assert.equal(json.code, 7);
  }
});

test('owners are known by tag, by container alone, and not at all', async () => {
  const tag = (containerID: string, network = 'n1') => ownerTag({ network, containerID, ifName: 'eth0' });
  await collect({ 'cni.dev/valid-attachments': valid }, async (call) => {
    const items = [
      tag('c1'),
      tag('c2'),
      tag('c2', 'other'),
      { containerID: 'c1' },
      { containerID: 'c2' },
      undefined,
    ];
    const stale = await call.stale(
      async () => [...items.entries()],
      ([, owner]) => owner,
    );
    assert.deepEqual(
      stale.map(([index]) => index),
      [1, 4],
    );
    assert.equal(call.isValidTag(tag('c2', 'other')), true);
  });
});

test('while an ADD of the network is under way, nothing of a container without an interface is stale', async () => {
  const owners = [{ containerID: 'c2' }, { containerID: 'c3', ifName: 'eth0' }];
  for (const [network, expected] of [
    ['n1', ['c3']],
    ['other', ['c2', 'c3']],
  ] as const) {
    const marks = new Set([tagKey(ownerTag({ network, containerID: 'c9', ifName: 'eth0' }))]);
    const gc = async (call: GcCall<object>) => {
      const stale = await call.stale(
        async () => owners,
        (owner) => owner,
      );
      assert.deepEqual(
        stale.map(({ containerID }) => containerID),
        expected,
      );
    };
    assert.equal((await collect({ 'cni.dev/valid-attachments': [] }, gc, marks)).exitCode, 0);
  }
});

test('an attachment whose ADD is under way is never stale, also when the ADD ends during the listing', async () => {
  const marks = new Set([tagKey(ownerTag({ network: 'n1', containerID: 'c2', ifName: 'eth0' }))]);
  const { exitCode } = await collect(
    { 'cni.dev/valid-attachments': [] },
    async (call) => {
      const list = async () => {
        marks.clear();
        return IDS;
      };
      const stale = await call.stale(list, (id) => id);
      assert.deepEqual(
        stale.map(({ containerID }) => containerID),
        ['c1', 'c3'],
      );
    },
    marks,
  );
  assert.equal(exitCode, 0);
});
