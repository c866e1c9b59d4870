import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { askDaemon } from '../ask-daemon.ts';
import { DhcpError } from '../dhcp-error.ts';
import { activatedSocket } from './listen.ts';
import { runDaemon } from './run.ts';
import { daemonServer } from './server.ts';

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'heddle-dhcp-'));
});
after(() => rmSync(directory, { recursive: true }));

const owner = { network: 'n', containerID: 'c', ifName: 'eth0' };

/** A daemon in this process. */
class Daemon {
  stderr = '';
  stop = () => {};
  readonly status: Promise<number>;

  constructor(...args: readonly string[]) {
    this.status = runDaemon(args, {
      env: {},
      pid: process.pid,
      stderr: (text) => {
        this.stderr += text;
      },
      random: Math.random,
      onStop: (stop) => {
        this.stop = stop;
      },
    });
  }

  static async listening(path: string, ...args: readonly string[]): Promise<Daemon> {
    const daemon = new Daemon('-socketpath', path, '-statedir', join(directory, 'state'), ...args);
    for (let tries = 0; tries < 500; tries++) {
      try {
        await askDaemon(path, { ask: 'greet' });
        return daemon;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
    throw new Error(daemon.stderr);
  }
}

/** What a conversation that begins with these words comes to. */
function converse(path: string, words: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const socket = connect(path, () => socket.write(words));
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', reject).on('close', () => resolve(text));
  return promise;
}

test('it answers on its socket, and takes socket and pidfile away when it ends', async () => {
  const path = join(directory, 'run/dhcp.sock');
  const pidfile = join(directory, 'dhcp.pid');
  const daemon = await Daemon.listening(path, '-pidfile', pidfile);
  assert.equal(readFileSync(pidfile, 'utf8'), `${process.pid}`);
  assert.equal(statSync(pidfile).mode & 0o777, 0o644);
  assert.equal(statSync(path).mode & 0o777, 0o660);
  assert.equal(statSync(join(directory, 'run')).mode & 0o777, 0o700);
  assert.deepEqual(await askDaemon(path, { ask: 'list' }), []);
  assert.equal(await askDaemon(path, { ask: 'find', owner }), null);
  assert.equal(await askDaemon(path, { ask: 'release', owner }), false);
  daemon.stop();
  assert.equal(await daemon.status, 0);
  assert.deepEqual([existsSync(path), existsSync(pidfile), daemon.stderr], [false, false, '']);
});

test('a lease in a namespace that does not exist is refused, in words', async () => {
  const path = join(directory, 'refuse.sock');
  const daemon = await Daemon.listening(path, '-hostprefix', '');
  await assert.rejects(
    askDaemon(path, { ask: 'acquire', owner, netns: '/nowhere', provide: [], parameters: [] }),
    (error) =>
      DhcpError.is(error, 'DHCP_DAEMON_FAILED') &&
      error.details?.['code'] === 'DHCP_INTERFACE_GONE' &&
      error.message === 'statfs /nowhere: ENOENT (No such file or directory)',
  );
  daemon.stop();
  await daemon.status;
});

test('hostprefix goes in front of the socket, the leases and the namespaces', async () => {
  const prefix = join(directory, 'host');
  const daemon = new Daemon('-hostprefix', prefix, '-socketpath', '/run/x.sock', '-statedir', '/state');
  const path = `${prefix}/run/x.sock`;
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 10));
  await assert.rejects(
    askDaemon(path, { ask: 'acquire', owner, netns: '/ns', provide: [], parameters: [] }),
    (error) => error instanceof Error && error.message.includes(`${prefix}/ns`),
  );
  daemon.stop();
  assert.equal(await daemon.status, 0);
});

test('a socket that a killed daemon left is taken over, that of a living one is not', async () => {
  const path = join(directory, 'stale.sock');
  // A process that is killed leaves its socket.
  const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  await new Promise((resolve) => spawn(process.execPath, ['-e', program]).on('close', resolve));
  assert.ok(existsSync(path));
  const daemon = await Daemon.listening(path);
  const second = new Daemon('-socketpath', path, '-statedir', join(directory, 'state'));
  assert.equal(await second.status, 1);
  assert.match(second.stderr, /^dhcp: Error getting listener: listen unix .*EADDRINUSE/);
  assert.equal(await askDaemon(path, { ask: 'greet' }), 'heddle');
  daemon.stop();
  await daemon.status;
});

test('whoever asks nonsense is told so; a plugin of the reference is told what it needs', async () => {
  const path = join(directory, 'nonsense.sock');
  const daemon = await Daemon.listening(path);
  for (const words of [
    'hello\n',
    '{}\n',
    '{"ask":"everything"}\n',
    '{"ask":"find"}\n',
    `${'x'.repeat(2 << 20)}`,
  ]) {
    const { error } = JSON.parse(await converse(path, words));
    assert.equal(error.code, 'DHCP_REQUEST_INVALID', words.slice(0, 30));
  }
  assert.match(
    await converse(path, 'CONNECT /_goRPC_ HTTP/1.0\n\n'),
    /^HTTP\/1\.0 501 this is Heddle's DHCP daemon, which does not speak Go's RPC/,
  );
  assert.match(daemon.stderr, /a plugin of the reference wants to speak Go's RPC/);
  daemon.stop();
  await daemon.status;
});

for (const words of ['', '{"ask":"greet"']) {
  test(`who never ends a question is let go: ${words || 'nothing'}`, async () => {
    const path = join(directory, 'slow.sock');
    const table = new Promise<never>(() => {});
    const server = daemonServer({ table, hostPrefix: '', log: assert.fail, questionTime: 20 });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const { error } = JSON.parse(await converse(path, words));
    assert.deepEqual(error, { code: 'DHCP_REQUEST_INVALID', message: 'no question came within 20 ms' });
    // Nobody is connected any more, or this would not end.
    await new Promise((resolve) => server.close(resolve));
  });
}

test('who listens there may be nobody, or somebody else', async () => {
  const nobody = join(directory, 'nobody.sock');
  await assert.rejects(
    askDaemon(nobody, { ask: 'greet' }),
    (error) =>
      DhcpError.is(error, 'DHCP_DAEMON_UNREACHABLE') &&
      error.message === `dial unix ${nobody}: connect: no such file or directory`,
  );
  const answers: readonly (readonly [string, string, RegExp])[] = [
    ['', 'DHCP_DAEMON_UNREACHABLE', /hung up without an answer/],
    ['HTTP/1.1 400 Bad Request\r\n\r\n', 'DHCP_DAEMON_FOREIGN', /is not Heddle's DHCP daemon/],
    ['{"answer":7}\n', 'DHCP_DAEMON_FOREIGN', /is not Heddle's DHCP daemon/],
    ['{"answer":"hed', 'DHCP_DAEMON_FOREIGN', /is not Heddle's DHCP daemon/],
  ];
  for (const [answer, code, message] of answers) {
    const path = join(directory, 'other.sock');
    const server = createServer((socket) =>
      socket.on('error', () => {}).once('data', () => socket.end(answer)),
    );
    await new Promise<void>((resolve) => server.listen(path, resolve));
    await assert.rejects(askDaemon(path, { ask: 'greet' }), { code, message });
    await new Promise((resolve) => server.close(resolve));
  }
});

test('wrong flags, and help', async () => {
  for (const [args, status, stderr] of [
    [['-nope'], 2, /^flag provided but not defined: -nope\nUsage of daemon:\n/],
    [['-timeout', 'soon'], 2, /^invalid value "soon" for flag -timeout: parse error\n/],
    [['-help'], 0, /^Usage of daemon:\n {2}-pidfile string\n/],
    [['-pidfile', 'relative'], 1, /^dhcp: Error writing pidfile "relative": path not absolute\n$/],
  ] as const) {
    const daemon = new Daemon(...args);
    assert.equal(await daemon.status, status);
    assert.match(daemon.stderr, stderr);
  }
});

test('systemd’s socket is taken when it is for this process, and only one', () => {
  const facts = (pid: string, fds: string) => ({ pid: 7, env: { LISTEN_PID: pid, LISTEN_FDS: fds } });
  assert.equal(activatedSocket(facts('7', '1')), 3);
  assert.equal(activatedSocket(facts('8', '1')), undefined);
  assert.equal(activatedSocket(facts('7', '0')), undefined);
  assert.equal(activatedSocket({ pid: 7, env: {} }), undefined);
  assert.throws(
    () => activatedSocket(facts('7', '2')),
    /^DhcpError: Too many \(2\) FDs passed through socket activation$/,
  );
});

test('a daemon that cannot read what it kept does not start as if there were nothing', async () => {
  const path = join(directory, 'broken.sock');
  const stateDir = join(directory, 'broken');
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, encodeURIComponent(path)), 'no directory');
  const daemon = new Daemon('-socketpath', path, '-statedir', stateDir);
  assert.equal(await daemon.status, 1);
  assert.match(daemon.stderr, /list the leases in /);
  assert.equal(existsSync(path), false);
});
