import assert from 'node:assert/strict';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PluginError } from '../index.ts';
import { execPlugin, systemExec } from './exec.ts';
import type { PluginOutput } from './plugin-exec.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

const stubs = new StubPlugins();
after(() => stubs[Symbol.dispose]());

let count = 0;

/** Runs a shell script as a plugin. */
function run(
  script: string,
  { signal, stdin = '{}' }: { signal?: AbortSignal; stdin?: string } = {},
): Promise<PluginOutput> {
  const path = join(stubs.root, `script-${++count}`);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return execPlugin({ type: 'noop', path, env: { PATH: '/usr/bin:/bin', KEY: 'value' }, stdin, signal });
}

test('a plugin gets its stdin and exactly the given environment, and what it prints comes back', async () => {
  const { stdout, stderr } = await run('cat; env | sort; echo note >&2', { stdin: '{"a":"ü"}\n' });
  assert.match(stdout, /^\{"a":"ü"\}\nKEY=value\nPATH=\/usr\/bin:\/bin\nPWD=.*\n$/);
  assert.equal(stderr, 'note\n');
});

test('a shell plugin may open /dev/stdin, /dev/stdout and /dev/stderr', async () => {
  const script = 'cat /dev/stdin > /dev/stdout; echo note > /dev/stderr';
  assert.deepEqual(await run(script, { stdin: '{"a":1}' }), { stdout: '{"a":1}', stderr: 'note\n' });
});

test('a plugin need not read its stdin, however long that is', async () => {
  assert.equal((await run('echo ok', { stdin: 'x'.repeat(1 << 20) })).stdout, 'ok\n');
});

test('a process that the plugin leaves behind does not hold up the caller', async () => {
  const pidFile = join(stubs.root, 'left-behind');
  const { stdout } = await run(`sleep 600 & echo $! > ${pidFile}; echo done`);
  assert.equal(stdout, 'done\n');
  process.kill(Number(readFileSync(pidFile, 'utf8')));
});

const FAILURES: readonly (readonly [name: string, script: string, code: number, text: string])[] = [
  ['nothing at all', 'exit 1', 0, 'netplugin failed with no error message: exit status 1'],
  ['a signal', 'kill -TERM $$', 0, 'netplugin failed with no error message: signal: terminated'],
  [
    'only stderr',
    "printf 'some stderr message' >&2; exit 1",
    0,
    'netplugin failed: "some stderr message": exit status 1',
  ],
  ['an error object', `echo '{"code":7,"msg":"bad","details":"very"}'; exit 1`, 7, 'bad; very'],
  ['an error object without a code', `echo '{"Msg":"bad"}'; exit 3`, 0, 'bad'],
  ['an empty object', 'echo {}; exit 2', 0, 'netplugin failed with an empty error object: exit status 2'],
];

for (const [name, script, code, text] of FAILURES) {
  test(`a failing plugin prints ${name}`, async () => {
    await assert.rejects(run(script), (error) => {
      assert.ok(error instanceof PluginError);
      assert.equal(error.message, text);
      assert.equal(error.cniCode, code);
      assert.equal(error.plugin, 'noop');
      return true;
    });
  });
}

test('what a failing plugin wrote to stderr is kept in the error', async () => {
  await assert.rejects(run(`echo why >&2; echo '{"code":100,"msg":"bad"}'; exit 1`), (error) => {
    assert.ok(error instanceof PluginError);
    assert.equal(error.details?.['stderr'], 'why\n');
    return true;
  });
});

test('a failing plugin that prints no JSON is quoted', async () => {
  const text = /^PluginError: netplugin failed but error parsing its diagnostic message "oops\\n": /;
  await assert.rejects(run('echo oops; exit 1'), text);
});

test('cni#571: an error object among other things on stdout is found', async () => {
  const result = '{"cniVersion":"0.3.1","ips":[]}';
  const script = `echo 'level=info hello'; printf '${result}{"code":100,"msg":"pool empty"}'; exit 1`;
  await assert.rejects(run(script), (error) => {
    assert.ok(error instanceof PluginError);
    assert.equal(error.cniCode, 100);
    assert.equal(error.msg, 'pool empty');
    assert.match(error.message, /stdout held more than this error object: "level=info hello/);
    return true;
  });
});

test('a program that cannot be started says why', async () => {
  const start = (path: string) => execPlugin({ type: 'noop', path, env: {}, stdin: '' });
  await assert.rejects(start('/nonexistent/noop'), {
    message:
      'netplugin failed with no error message: fork/exec /nonexistent/noop: no such file or directory (ENOENT)',
  });
  const text = join(stubs.root, 'text');
  writeFileSync(text, 'just text', { mode: 0o755 });
  await assert.rejects(
    start(text),
    /no error message: fork\/exec .*\/text: exec format error: it is neither an ELF program/,
  );
});

test('a script whose interpreter is not there says so', async () => {
  const path = join(stubs.root, 'no-interpreter');
  writeFileSync(path, '#!/nonexistent/sh\n', { mode: 0o755 });
  const starting = execPlugin({ type: 'noop', path, env: {}, stdin: '' });
  await assert.rejects(starting, /no-interpreter: its interpreter is missing: no such file or directory/);
});

test('an abort kills the plugin with everything that it has started', async () => {
  const controller = new AbortController();
  const started = join(stubs.root, 'started');
  const running = run(`sleep 600 & echo $! > ${started}.new; mv ${started}.new ${started}; wait`, {
    signal: controller.signal,
  });
  while (!existsSync(started)) await sleep(5);
  controller.abort(new Error('the caller gave up'));
  await assert.rejects(running, (error) => {
    assert.ok(error instanceof PluginError);
    assert.equal(error.message, 'netplugin failed with no error message: signal: killed');
    assert.equal((error.cause as Error).message, 'the caller gave up');
    return true;
  });
  const child = Number(readFileSync(started, 'utf8'));
  while (isRunning(child)) await sleep(5);
});

test('after an abort nothing is started', async () => {
  const trace = join(stubs.root, 'never');
  const signal = AbortSignal.abort(new Error('too late'));
  await assert.rejects(run(`touch ${trace}`, { signal }), /^PluginError: .*no error message: too late$/);
  assert.equal(existsSync(trace), false);
});

test('an executable that is being written is tried again, and starts when that is done', async () => {
  const path = stubs.install('busy');
  const writing = openSync(path, 'r+');
  const running = execPlugin({ type: 'busy', path, env: { CNI_COMMAND: 'ADD' }, stdin: '{}' }, 50);
  closeSync(writing);
  assert.match((await running).stdout, /192\.0\.2\.5/);
});

test('an executable that stays busy is an error in the end', async () => {
  const path = stubs.install('busy');
  const writing = openSync(path, 'r+');
  try {
    const running = execPlugin({ type: 'busy', path, env: { CNI_COMMAND: 'DEL' }, stdin: '{}' }, 1);
    await assert.rejects(running, /^PluginError: netplugin failed .*text file is busy \(ETXTBSY\)$/);
  } finally {
    closeSync(writing);
  }
});

test('the look-up tells what it passed over', () => {
  const warnings: string[] = [];
  const path = stubs.install('bridge');
  const broken = join(stubs.root, 'broken');
  mkdirSync(join(broken, 'bridge'), { recursive: true });
  const exec = systemExec({ onWarning: (message) => warnings.push(message) });
  assert.equal(exec.find('bridge', [broken, stubs.bin]), path);
  assert.deepEqual(warnings, [
    `plugin "bridge": using ${path}, although ${broken}/bridge is no file but a directory`,
  ]);
});

/** A process that is dead, but that nobody has waited for, does not run. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
