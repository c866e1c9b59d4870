import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { AF, O, SOCK } from './constants.ts';
import type { Fd } from './fd.ts';
import { openFile } from './file.ts';
import { inotifyAdd, inotifyCreate, inotifyDrain } from './inotify.ts';
import { accept, bind, connect, listen, recv, send, socket } from './socket.ts';
import { SysError } from './sys-error.ts';
import { entry, type ProgramResult, runProgram } from './testing/program.ts';
import { scratchDirectory } from './testing/scratch.ts';
import { watch } from './watch.ts';

test('a listener serves one connection after the other', async () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'socket');
  using listener = unixListener(path);
  const clients = Array.from({ length: 5 }, () => unixSocket());
  const { promise, resolve } = Promise.withResolvers<void>();
  const accepted: Fd[] = [];
  using _watching = watch(listener, () => {
    const peer = accept(listener); // only one per call: the watch fires again for the rest
    assert.ok(peer !== undefined);
    accepted.push(peer);
    if (accepted.length === clients.length) resolve();
  });
  for (const client of clients) connect(client, unixAddress(path));
  await promise;
  for (const fd of [...clients, ...accepted]) fd.close();
});

test('the end of a stream is readable, and a disposed watch is silent', async () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'socket');
  using listener = unixListener(path);
  using client = unixSocket();
  connect(client, unixAddress(path));
  using server = accept(listener, { nonblocking: true });
  assert.ok(server !== undefined);
  const seen: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  using silent = watch(server, () => seen.push('silent'));
  silent[Symbol.dispose]();
  silent[Symbol.dispose]();
  using watching = watch(server, () => {
    const bytes = recv(server) ?? new Uint8Array(0);
    seen.push(Buffer.from(bytes).toString());
    if (bytes.length > 0) return;
    watching[Symbol.dispose]();
    resolve();
  });
  send(client, Buffer.from('a'));
  await new Promise((done) => setTimeout(done, 20));
  client.close();
  await promise;
  await new Promise((done) => setTimeout(done, 20));
  assert.deepEqual(seen, ['a', '']);
});

test('closing the descriptor ends its watch', async () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'socket');
  const listener = unixListener(path);
  let calls = 0;
  const watching = watch(listener, () => {
    calls += 1;
  });
  using client = unixSocket();
  connect(client, unixAddress(path));
  listener.close();
  await new Promise((done) => setTimeout(done, 20));
  assert.equal(calls, 0);
  watching[Symbol.dispose]();
  assert.throws(
    () => watch(listener, () => undefined),
    (error) => SysError.is(error, 'EBADF'),
  );
});

test('inotify can be watched as well', async () => {
  using directory = scratchDirectory();
  using inotify = inotifyCreate();
  inotifyAdd(inotify, directory.path, 0x100);
  const { promise, resolve } = Promise.withResolvers<string>();
  using _watching = watch(inotify, () => resolve(inotifyDrain(inotify)[0]?.name ?? ''));
  openFile(join(directory.path, 'new'), O.CREAT | O.RDWR, 0o600).close();
  assert.equal(await promise, 'new');
});

test('what is always ready cannot be watched', () => {
  using file = openFile('/etc/passwd', O.RDONLY);
  assert.throws(
    () => watch(file, () => undefined),
    (error) => SysError.is(error, 'EPERM') && error.syscall === 'epoll_ctl',
  );
});

test('a watch keeps the program alive, unless it is told not to', () => {
  const { status, stdout } = program(`
    const idle = listener('idle');
    watch(idle, () => console.log('never'), { unref: true });
    const busy = listener('busy');
    const watching = watch(busy, () => { console.log('served'); watching[Symbol.dispose](); });
    setTimeout(() => connect(unixSocket(), address('busy')), 30);
  `);
  assert.deepEqual([status, stdout], [0, 'served\n']);
});

test('what a callback throws is an uncaught exception, and the watch goes on', () => {
  const { status, stdout } = program(`
    const one = listener('one');
    let calls = 0;
    process.on('uncaughtException', (error) => console.log(error.message));
    const watching = watch(one, () => {
      calls += 1;
      if (calls === 3) watching[Symbol.dispose]();
      throw new Error('call ' + calls);
    });
    connect(unixSocket(), address('one'));
  `);
  assert.deepEqual([status, stdout], [0, 'call 1\ncall 2\ncall 3\n']);
});

/** Runs a program of its own, with sockets in a scratch directory. */
function program(body: string): ProgramResult {
  using directory = scratchDirectory();
  return runProgram(`
    import { AF, bind, connect, listen, SOCK, socket, watch } from ${JSON.stringify(entry)};
    const unixSocket = () => socket({ family: AF.UNIX, type: SOCK.STREAM, nonblocking: true });
    const address = (name) => Buffer.from('\\x01\\0${directory.path}/' + name + '\\0', 'latin1');
    const listener = (name) => { const fd = unixSocket(); bind(fd, address(name)); listen(fd, 1); return fd; };
    ${body}`);
}

function unixSocket(): Fd {
  return socket({ family: AF.UNIX, type: SOCK.STREAM, nonblocking: true });
}

function unixListener(path: string): Fd {
  const listener = unixSocket();
  bind(listener, unixAddress(path));
  listen(listener, 8);
  return listener;
}

/** struct sockaddr_un */
function unixAddress(path: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(AF.UNIX, 0), Buffer.from(`${path}\0`)]);
}
