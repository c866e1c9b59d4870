import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { definePlugin, type Operation, type PluginHost, serve } from './index.ts';
import { testHost } from './testing/host.ts';

const stdin = JSON.stringify({
  cniVersion: '1.1.0',
  name: 'n1',
  type: 'probe',
  'cni.dev/valid-attachments': [],
});
const readStdin = () => new TextEncoder().encode(stdin);

function envOf(command: string, more: Record<string, string> = {}) {
  return {
    ...{ CNI_COMMAND: command, CNI_CONTAINERID: 'c1', CNI_NETNS: '/run/netns/c1', CNI_IFNAME: 'eth0' },
    ...{ CNI_PATH: '/opt/cni/bin', ...more },
  };
}

function probe(onAdd: () => void = () => {}, onUndo: () => void = () => {}) {
  return definePlugin({
    type: 'probe',
    kind: 'meta',
    about: 'looks',
    config: v.object({}),
    add: async ({ undo }) => {
      undo.push('look', async () => onUndo());
      onAdd();
      return { cniVersion: '1.1.0' };
    },
    del: async () => {},
    check: async () => {},
    gc: async () => {},
    status: async () => {},
  });
}

function hostThatTells(log: string[], more: Partial<PluginHost> = {}): PluginHost {
  return {
    ...testHost(),
    exclusive: async ({ type, command, attachment }: Operation) => {
      log.push(`${type} ${command} ${attachment.network}/${attachment.containerID}/${attachment.ifName}`);
      return { [Symbol.dispose]: () => void log.push('end') };
    },
    ...more,
  };
}

test('operations on an attachment wait for their turn and end it; others need none', async () => {
  const log: string[] = [];
  for (const command of ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS']) {
    const { exitCode, stdout } = await serve(probe(), { env: envOf(command), readStdin }, hostThatTells(log));
    assert.equal(exitCode, 0, stdout);
  }
  assert.deepEqual(log, [
    ...['probe ADD n1/c1/eth0', 'end', 'probe DEL n1/c1/eth0', 'end', 'probe CHECK n1/c1/eth0', 'end'],
  ]);
});

test('inside the turn of a caller nothing is waited for', async () => {
  const log: string[] = [];
  const env = envOf('ADD', { HEDDLE_LOCKS: 'network/n1,attachment/n1/c1/eth0' });
  await serve(probe(), { env, readStdin }, hostThatTells(log));
  assert.deepEqual(log, []);
});

test('an ADD that nobody waits for any more is taken back, within its turn', async () => {
  const log: string[] = [];
  const caller = new AbortController();
  const plugin = probe(
    () => caller.abort(new Error('the caller is gone')),
    () => log.push('undone'),
  );
  const host = hostThatTells(log, { caller: caller.signal });
  const { exitCode, stdout } = await serve(plugin, { env: envOf('ADD'), readStdin }, host);
  assert.equal(exitCode, 1);
  assert.match(stdout, /the caller is gone/);
  assert.deepEqual(log.slice(1), ['undone', 'end']);
  const later = await serve(probe(), { env: envOf('DEL'), readStdin }, host);
  assert.equal(later.exitCode, 0);
});
