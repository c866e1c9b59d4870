import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PluginInvocation } from '../plugin/index.ts';
import { systemExec } from './exec.ts';
import { inProcessExec } from './in-process.ts';
import { network, POD } from './testing/networks.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

const decoder = new TextDecoder();

test('plugins of the table run in this process, the others as executables', async () => {
  using stubs = new StubPlugins('other');
  const seen: string[] = [];
  const serve = async (type: string, { env, readStdin }: PluginInvocation) => {
    seen.push(`${env['CNI_COMMAND']} ${type} ${decoder.decode(readStdin())}`);
    return { exitCode: 0, stdout: '{"ips":[{"address":"192.0.2.9/24"}]}', stderr: 'note' };
  };
  const stderr: string[] = [];
  const exec = inProcessExec({ has: (type) => type === 'own', serve }, systemExec());
  const runtime = stubs.runtime({ exec, onStderr: (text) => stderr.push(text) });
  await runtime.add(network(['own', 'other']), POD);
  assert.deepEqual(seen, ['ADD own {"cniVersion":"1.1.0","name":"net","type":"own"}']);
  assert.deepEqual(stubs.calls()[0]?.stdin['prevResult'], {
    cniVersion: '1.1.0',
    ips: [{ address: '192.0.2.9/24' }],
  });
  assert.deepEqual(stderr, ['note']);
});

test('a failure in this process reads like that of an executable', async () => {
  using stubs = new StubPlugins();
  const serve = async () => ({ exitCode: 1, stdout: '{"code":11,"msg":"pool is full"}', stderr: '' });
  const runtime = stubs.runtime({ exec: inProcessExec({ has: () => true, serve }, systemExec()) });
  await assert.rejects(runtime.add(network(['own']), POD), {
    message: 'plugin type="own" failed (add): pool is full',
    cniCode: 11,
  });
});

test('after an abort no code is called', async () => {
  using stubs = new StubPlugins();
  const controller = new AbortController();
  let calls = 0;
  const serve = async () => {
    calls += 1;
    controller.abort(new Error('enough'));
    return { exitCode: 0, stdout: '{}', stderr: '' };
  };
  const runtime = stubs.runtime({ exec: inProcessExec({ has: () => true, serve }, systemExec()) });
  const running = runtime.add(network(['one', 'two']), POD, { signal: controller.signal });
  await assert.rejects(running, /plugin type="two" failed \(add\): .*: enough/);
  assert.equal(calls, 1);
});
