import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { SO, SOL } from './constants.ts';
import { createNetns, type NetnsHandle, runInNetns } from './netns.ts';
import { recv, setsockopt } from './socket.ts';
import { SysError } from './sys-error.ts';
import {
  dumpLinks,
  dumpRoutes,
  getLoopback,
  getNoLink,
  numbered,
  raiseLoopback,
  repeat,
  sequenceOf,
  typeOf,
} from './testing/messages.ts';
import { routeSocket } from './testing/route-socket.ts';
import { openDescriptors } from './testing/scratch.ts';
import { transact, transactSync } from './transact.ts';

const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const RTM_NEWLINK = 16;

test('an answer is complete, on the calling thread and on another', async () => {
  using netns = createNetns();
  using route = routeSocket(netns);
  const here = transactSync(route, dumpLinks);
  const there = await transact(route, dumpLinks);
  assert.deepEqual(here.map(typeOf), [RTM_NEWLINK, NLMSG_DONE]);
  assert.deepEqual(there.map(typeOf), [RTM_NEWLINK, NLMSG_DONE]);
  assert.deepEqual(transactSync(route, raiseLoopback).map(typeOf), [NLMSG_ERROR]);
  const [before, after] = [here[0], transactSync(route, getLoopback)[0]];
  assert.equal((before?.[24] ?? 0) & 1, 0); // ifi_flags, IFF_UP
  assert.equal((after?.[24] ?? 0) & 1, 1);
  assert.equal(recv(nonblocking(netns)), undefined);
});

test('a dump of many parts arrives whole', async () => {
  using netns = createNetns();
  addRoutes(netns, 5000);
  using route = routeSocket(netns);
  for (const parts of [transactSync(route, dumpRoutes), await transact(route, dumpRoutes)]) {
    assert.ok(parts.length > 3);
    assert.ok(parts.reduce((sum, part) => sum + messagesIn(part), 0) >= 5000);
    assert.equal(typeOf(parts.at(-1)), NLMSG_DONE);
  }
});

test('a thousand at once, each with its own answer', async () => {
  using netns = createNetns();
  const sockets = Array.from({ length: 20 }, () => routeSocket(netns));
  const before = openDescriptors();
  const answers = await Promise.all(
    Array.from({ length: 1000 }, (_, i) => {
      const route = sockets[i % sockets.length];
      assert.ok(route !== undefined);
      return transact(route, numbered(dumpLinks, i));
    }),
  );
  answers.forEach((datagrams, i) => {
    assert.deepEqual(datagrams.map(typeOf), [RTM_NEWLINK, NLMSG_DONE]);
    assert.equal(sequenceOf(datagrams[0]), i);
  });
  assert.equal(openDescriptors(), before);
  for (const route of sockets) route.close();
});

test('the request is taken at the call: its buffer may be reused at once', async () => {
  using netns = createNetns();
  using route = routeSocket(netns);
  const request = numbered(dumpLinks, 7);
  const answers = [transact(route, request), transact(route, request)];
  request.fill(0xff);
  assert.deepEqual(
    (await Promise.all(answers)).map(([first]) => sequenceOf(first)),
    [7, 7],
  );
});

test('lost replies are an error, and the socket is ready for another request', async () => {
  using netns = createNetns();
  using route = routeSocket(netns);
  setsockopt(route, SOL.SOCKET, SO.RCVBUF, 0);
  const flood = repeat(getNoLink, 500);
  assert.throws(
    () => transactSync(route, flood),
    (error) => SysError.is(error, 'ENOBUFS') && error.syscall === 'recv',
  );
  assert.deepEqual(transactSync(route, getLoopback).map(typeOf), [RTM_NEWLINK]);
  await assert.rejects(transact(route, flood), (error) => SysError.is(error, 'ENOBUFS'));
  assert.deepEqual((await transact(route, getLoopback)).map(typeOf), [RTM_NEWLINK]);
});

test('a batch is answered message by message', () => {
  using netns = createNetns();
  using route = routeSocket(netns);
  const answers = transactSync(route, repeat(getNoLink, 50));
  assert.deepEqual(answers.map(typeOf), new Array(50).fill(NLMSG_ERROR));
});

test('the synchronous call does not mix with one under way', async () => {
  using netns = createNetns();
  using route = routeSocket(netns);
  const under = transact(route, dumpLinks);
  assert.throws(
    () => transactSync(route, dumpLinks),
    (error) => SysError.is(error, 'EBUSY'),
  );
  await under;
  assert.equal(transactSync(route, dumpLinks).length, 2);
});

test('a close waits for what is under way, and refuses what comes later', async () => {
  using netns = createNetns();
  const before = openDescriptors();
  const route = routeSocket(netns);
  const under = [transact(route, dumpLinks), transact(route, dumpLinks)];
  route.close();
  assert.equal(openDescriptors(), before + 1);
  await assert.rejects(transact(route, dumpLinks), (error) => SysError.is(error, 'EBADF'));
  assert.throws(
    () => transactSync(route, dumpLinks),
    (error) => SysError.is(error, 'EBADF') && error.message.includes('use after close'),
  );
  for (const datagrams of await Promise.all(under)) assert.equal(datagrams.length, 2);
  assert.equal(openDescriptors(), before);
});

test('a request that the kernel does not even take is an error of send', async () => {
  using netns = createNetns();
  using route = routeSocket(netns);
  const tooLong = new Uint8Array(10_000_000);
  const refused = (error: unknown) => SysError.is(error, 'EMSGSIZE') && error.syscall === 'send';
  assert.throws(() => transactSync(route, tooLong), refused);
  await assert.rejects(transact(route, tooLong), refused);
});

function nonblocking(netns: NetnsHandle) {
  const route = routeSocket(netns);
  setsockopt(route, SOL.SOCKET, SO.RCVTIMEO, Buffer.from('00000000000000000100000000000000', 'hex'));
  return route;
}

function addRoutes(netns: NetnsHandle, count: number): void {
  const lines = ['link set lo up'];
  for (let i = 0; i < count; i++) lines.push(`route add 10.${i >> 8}.${i & 255}.0/24 dev lo`);
  const { status, stderr } = runInNetns(netns, () =>
    spawnSync('ip', ['-batch', '-'], { input: lines.join('\n'), encoding: 'utf8' }),
  );
  assert.equal(status, 0, stderr);
}

function messagesIn(part: Uint8Array): number {
  const view = new DataView(part.buffer, part.byteOffset, part.length);
  let count = 0;
  for (let offset = 0; offset < part.length; offset += (view.getUint32(offset, true) + 3) & ~3) count += 1;
  return count;
}
