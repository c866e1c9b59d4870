import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { CniError, PluginError } from '../index.ts';
import { definePlugin, type Plugin, type PluginExecution, serve } from './index.ts';
import { testHost } from './testing/host.ts';

const ENV = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'c1',
  CNI_NETNS: '/run/netns/c1',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
  OTHER: 'kept',
};
const ADDRESSES = '{"cniVersion":"0.4.0","ips":[{"version":"4","address":"192.0.2.5/24"}]}';
const CONFIG = { name: 'n1', cniVersion: '0.4.0', IPAM: { Type: 'pool' }, extra: [1] };

const nothing = async () => undefined;
const rest = { config: v.object({}), check: nothing, gc: nothing, status: nothing } as const;
const main = definePlugin({
  type: 'main',
  kind: 'main',
  about: 'delegates',
  ...rest,
  add: ({ ipam }) => ipam.add(),
  del: ({ ipam }) => ipam.del(),
});

/** A delegate that notes its command and gives a fixed answer. */
function recording(commands: string[], answer: string) {
  return ({ env }: PluginExecution) => {
    commands.push(String(env['CNI_COMMAND']));
    return answer;
  };
}

async function run(
  plugin: Plugin,
  invoke: (execution: PluginExecution) => string,
  env = {},
  inProcess?: ReadonlyMap<string, Plugin>,
) {
  const stdin = JSON.stringify(CONFIG);
  const host = testHost({ invoke, ...(inProcess !== undefined && { inProcess }) });
  const outcome = await serve(plugin, { env: { ...ENV, ...env }, readStdin: () => Buffer.from(stdin) }, host);
  return { ...outcome, json: outcome.stdout === '' ? undefined : JSON.parse(outcome.stdout), stdin };
}

test('a delegate gets the environment with its command, and the unchanged configuration', async () => {
  const seen: PluginExecution[] = [];
  const { json, stdin } = await run(main, (execution) => {
    seen.push(execution);
    return ADDRESSES;
  });
  assert.deepEqual(json.ips, [{ version: '4', address: '192.0.2.5/24' }]);
  assert.equal(seen[0]?.path, '/opt/cni/bin/pool');
  assert.equal(Buffer.from(seen[0]?.stdin ?? []).toString(), stdin);
  assert.deepEqual(seen[0]?.env, ENV);
  const del: string[] = [];
  await run(main, recording(del, ''), { CNI_COMMAND: 'DEL' });
  assert.deepEqual(del, ['DEL']);
});

test("a failing delegate's own error goes through, and its DEL is run", async () => {
  const commands: string[] = [];
  const { json, exitCode } = await run(main, ({ env, type }) => {
    commands.push(String(env['CNI_COMMAND']));
    if (env['CNI_COMMAND'] === 'ADD') throw new PluginError(type, { code: 11, msg: 'pool is full' });
    return '';
  });
  assert.equal(exitCode, 1);
  assert.deepEqual([json.code, json.msg], [11, 'pool is full']);
  assert.deepEqual(commands, ['ADD', 'DEL']);
});

test('what an earlier ADD of the attachment holds is not given back', async () => {
  const commands: string[] = [];
  const msg = '10.1.2.2 has been allocated to c1, duplicate allocation is not allowed';
  const { json } = await run(main, ({ env, type }) => {
    commands.push(String(env['CNI_COMMAND']));
    throw new PluginError(type, { code: 999, msg });
  });
  assert.equal(json.msg, msg);
  assert.deepEqual(commands, ['ADD']);
});

test('a result without addresses is an error, and is given back', async () => {
  const commands: string[] = [];
  const { json } = await run(main, recording(commands, '{"cniVersion":"0.4.0"}'));
  assert.equal(json.msg, 'IPAM plugin returned missing IP config');
  assert.deepEqual(commands, ['ADD', 'DEL']);
});

test('the interface is there when DHCP is asked to give its address back, and gone for all others', async () => {
  for (const [type, expected] of [
    ['dhcp', ['release', 'delete the link']],
    ['host-local', ['delete the link', 'release']],
  ] as const) {
    for (const [command, failure] of [
      ['DEL', undefined],
      ['DEL', 'no answer'],
      ['GC', undefined],
    ] as const) {
      const steps: string[] = [];
      const plugin = definePlugin({
        ...{ type: 'main', kind: 'main', about: 'delegates' },
        ...rest,
        add: ({ ipam }) => ipam.add(),
        async del({ ipam, teardown }) {
          await teardown.step('delete the link', () => void steps.push('delete the link'));
          await teardown.step('release the address', () => ipam.del());
        },
        async gc({ ipam, teardown }) {
          await teardown.step('delete the link', () => void steps.push('delete the link'));
          await teardown.step('release the address', () => ipam.gc());
        },
      });
      const invoke = (execution: PluginExecution) => {
        steps.push('release');
        if (failure !== undefined) throw new PluginError(execution.type, { code: 999, msg: failure });
        return '';
      };
      const config = {
        ...CONFIG,
        cniVersion: '1.1.0',
        IPAM: { Type: type },
        'cni.dev/valid-attachments': [],
      };
      const stdin = Buffer.from(JSON.stringify(config));
      const env = { ...ENV, CNI_COMMAND: command, CNI_NETNS: '' };
      const { stdout } = await serve(plugin, { env, readStdin: () => stdin }, testHost({ invoke }));
      assert.deepEqual(steps, expected);
      assert.equal(stdout === '' ? undefined : JSON.parse(stdout).msg, failure);
    }
  }
});

test('output that is no JSON names the plugin and its path', async () => {
  const { json } = await run(main, () => 'hello');
  assert.match(json.msg, /^ipam plugin pool \(\/opt\/cni\/bin\/pool\): /);
});

test('a delegate of ours runs without a process, its failure undoing its own steps first', async () => {
  const log: string[] = [];
  const pool = definePlugin({
    type: 'pool',
    kind: 'ipam',
    about: 'gives addresses',
    ...rest,
    add: async ({ undo, containerID }) => {
      undo.push('reservation', async () => void log.push(`undo ${containerID}`));
      throw new CniError(11, 'full');
    },
    del: async ({ containerID }) => void log.push(`del ${containerID}`),
  });
  const { json } = await run(main, () => assert.fail('a process was started'), {}, new Map([['pool', pool]]));
  assert.deepEqual([json.code, json.msg], [11, 'full']);
  assert.deepEqual(log, ['undo c1', 'del c1']);
});

test('a plugin of ours that is for something else is no address management', async () => {
  const own = new Map([['pool', main]]);
  for (const command of ['ADD', 'CHECK', 'DEL']) {
    const checks = definePlugin({ ...main, config: v.object({}), check: ({ ipam }) => ipam.check() });
    const { json } = await run(checks, () => assert.fail('started'), { CNI_COMMAND: command }, own);
    assert.deepEqual([json.code, json.msg], [7, '"main" is a main plugin and no ipam plugin']);
  }
});

const front = definePlugin({
  type: 'front',
  kind: 'meta',
  about: 'has another plugin do everything',
  ...rest,
  add: (call) => call.delegate({ ...call.raw, type: 'back', mtu: 1400 }).add(),
  del: (call) => call.delegate({ ...call.raw, type: 'back' }).del(),
});

test('a plugin can hand its work to another one, with a configuration of its own', async () => {
  const seen: PluginExecution[] = [];
  const { json } = await run(front, (execution) => {
    seen.push(execution);
    return '{"cniVersion":"0.4.0","interfaces":[{"name":"eth0"}]}';
  });
  assert.deepEqual(json.interfaces, [{ name: 'eth0' }]);
  assert.equal(seen[0]?.path, '/opt/cni/bin/back');
  assert.deepEqual(JSON.parse(Buffer.from(seen[0]?.stdin ?? []).toString()), {
    ...CONFIG,
    type: 'back',
    mtu: 1400,
  });
  assert.deepEqual(seen[0]?.env, ENV);
});

test('a plugin that fails at the work of another has its DEL run', async () => {
  const commands: string[] = [];
  const { json } = await run(front, ({ env, type }) => {
    commands.push(String(env['CNI_COMMAND']));
    if (env['CNI_COMMAND'] === 'ADD') throw new PluginError(type, { code: 7, msg: 'mtu is too large' });
    return '';
  });
  assert.deepEqual([json.code, json.msg], [7, 'mtu is too large']);
  assert.deepEqual(commands, ['ADD', 'DEL']);
});

test('a plugin of ours that does the work of another reads the configuration made for it', async () => {
  const back = definePlugin({
    type: 'back',
    kind: 'main',
    about: 'says what it was told',
    ...rest,
    config: v.object({ mtu: v.number() }),
    add: async ({ config, cniVersion }) => ({ cniVersion, interfaces: [{ name: `mtu${config.mtu}` }] }),
    del: nothing,
  });
  const own = new Map([['back', back]]);
  const { json } = await run(front, () => assert.fail('a process was started'), {}, own);
  assert.deepEqual(json.interfaces, [{ name: 'mtu1400' }]);
});

test('a plugin of ours that does the work of another must speak the version, too', async () => {
  const back = definePlugin({
    ...{ type: 'back', kind: 'main', about: 'is new', ...rest },
    versions: ['1.1.0'],
    add: async () => assert.fail('called'),
    del: nothing,
  });
  const { json } = await run(
    front,
    () => assert.fail('a process was started'),
    {},
    new Map([['back', back]]),
  );
  assert.deepEqual([json.code, json.msg], [1, 'incompatible CNI versions']);
});
