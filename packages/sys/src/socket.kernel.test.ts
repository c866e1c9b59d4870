import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AF, MSG, NETLINK, NETLINK_OPTION, O, SO, SOCK, SOL } from './constants.ts';
import type { Fd } from './fd.ts';
import { openFile, write } from './file.ts';
import { createNetns, runInNetns } from './netns.ts';
import {
  accept,
  attachFilter,
  bind,
  connect,
  ethtool,
  getsockname,
  getsockopt,
  ioctl,
  ioctlValue,
  listen,
  netnsCookie,
  peerCredentials,
  recv,
  recvDescriptors,
  recvFrom,
  send,
  setsockopt,
  socket,
} from './socket.ts';
import { SysError } from './sys-error.ts';
import { getLoopback } from './testing/messages.ts';
import { routeSocket } from './testing/route-socket.ts';
import { scratchDirectory } from './testing/scratch.ts';

test('a socket belongs to the namespace that it was opened in', () => {
  using netns = createNetns();
  using tcp = socket({ family: AF.INET6, type: SOCK.STREAM, netns });
  // The loopback link is down in there, and up out here.
  assert.throws(
    () => connect(tcp, inet6('::1', 9)),
    (error) => SysError.is(error, 'EADDRNOTAVAIL', 'ENETUNREACH'),
  );
  using udp = socket({ family: AF.INET, type: SOCK.DGRAM, netns });
  bind(udp, inet4(0, 5353));
  assert.match(
    runInNetns(netns, () => readFileSync('/proc/thread-self/net/udp', 'utf8')),
    /00000000:14E9/,
  );
});

test('a socket knows its namespace by a number that no other has', () => {
  const cookies = [1, 2, 3].map(() => {
    using netns = createNetns();
    using one = socket({ family: AF.INET, type: SOCK.DGRAM, netns });
    using two = routeSocket(netns);
    assert.equal(netnsCookie(one), netnsCookie(two));
    return netnsCookie(one);
  });
  assert.equal(new Set(cookies).size, 3);
});

test('every descriptor is closed on exec', () => {
  using netns = createNetns();
  using directory = scratchDirectory();
  using listener = unixListener(join(directory.path, 'socket'));
  using client = unixSocket(SOCK.STREAM);
  connect(client, unixAddress(join(directory.path, 'socket')));
  using peer = accept(listener);
  using file = openFile('/dev/null', O.RDWR);
  for (const fd of [netns, listener, client, peer, file]) {
    const flags = /flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd?.number}`, 'utf8'))?.[1];
    assert.equal(Number.parseInt(flags ?? '', 8) & 0o2000000, 0o2000000);
  }
});

test('a stream carries bytes, knows its peer and its end', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'socket');
  using listener = unixListener(path);
  assert.equal(accept(listener), undefined);
  using client = unixSocket(SOCK.STREAM);
  connect(client, unixAddress(path));
  using server = accept(listener, { nonblocking: true });
  assert.ok(server !== undefined);
  assert.deepEqual(peerCredentials(server), {
    ...{ pid: process.pid, uid: process.getuid?.(), gid: process.getgid?.() },
  });
  assert.equal(recv(server), undefined);
  assert.equal(send(client, text('hello')), 5);
  assert.deepEqual(recv(server, 4), Uint8Array.from(text('hell')));
  assert.deepEqual(recv(server), Uint8Array.from(text('o')));
  client.close();
  assert.deepEqual(recv(server), new Uint8Array(0));
  assert.throws(
    () => send(server, text('x')),
    (error) => SysError.is(error, 'EPIPE'),
  );
  assert.deepEqual(getsockname(listener).subarray(2, -1), Uint8Array.from(text(path)));
});

test('a datagram is never cut, unless a limit was asked for', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'socket');
  using server = unixSocket(SOCK.DGRAM);
  bind(server, unixAddress(path));
  using client = unixSocket(SOCK.DGRAM);
  const long = new Uint8Array(150_000).map((_, index) => index % 251);
  send(client, long, { to: unixAddress(path) });
  assert.deepEqual(recv(server, undefined, MSG.PEEK), long);
  assert.deepEqual(recv(server), long);
  send(client, long, { to: unixAddress(path) });
  assert.deepEqual(recv(server, 10), long.slice(0, 10));
  assert.equal(recv(server), undefined);
  send(client, new Uint8Array(0), { to: unixAddress(path) });
  assert.deepEqual(recv(server), new Uint8Array(0));
});

test('recvFrom names the sender: the kernel is port 0', () => {
  using netns = createNetns();
  using route = routeSocket(netns);
  send(route, getLoopback);
  const received = recvFrom(route);
  assert.ok(received !== undefined && received.bytes.length > 100);
  assert.deepEqual([...received.from], [AF.NETLINK, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
});

test('options are integers or bytes', () => {
  using netns = createNetns();
  using route = routeSocket(netns);
  setsockopt(route, SOL.SOCKET, SO.RCVBUF, 100_000);
  assert.equal(getsockopt(route, SOL.SOCKET, SO.RCVBUF), 200_000);
  setsockopt(route, SOL.NETLINK, NETLINK_OPTION.EXT_ACK, 1);
  assert.equal(getsockopt(route, SOL.NETLINK, NETLINK_OPTION.EXT_ACK), 1);
  assert.equal(getsockopt(route, SOL.SOCKET, SO.TYPE), SOCK.RAW);
  using tcp = socket({ family: AF.INET, type: SOCK.STREAM, netns });
  setsockopt(tcp, SOL.SOCKET, SO.BINDTODEVICE, text('lo\0'));
  assert.throws(
    () => setsockopt(tcp, SOL.SOCKET, SO.BINDTODEVICE, text('hdnone\0')),
    (error) => SysError.is(error, 'ENODEV'),
  );
  assert.throws(
    () => setsockopt(route, SOL.SOCKET, SO.RCVBUF, new Uint8Array(0)),
    (error) => SysError.is(error, 'EINVAL'),
  );
});

test('a filter decides what is queued', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'socket');
  using server = unixSocket(SOCK.DGRAM);
  bind(server, unixAddress(path));
  // ldb [0]; jeq #'y', 0, 1; ret #-1; ret #0
  attachFilter(
    server,
    Buffer.from('3000000000000000150000017900000006000000ffffffff0600000000000000', 'hex'),
  );
  using client = unixSocket(SOCK.DGRAM);
  for (const word of ['no', 'yes', 'never']) send(client, text(word), { to: unixAddress(path) });
  assert.deepEqual(recv(server), Uint8Array.from(text('yes')));
  assert.equal(recv(server), undefined);
  // A program must end by returning.
  assert.throws(
    () => attachFilter(server, Buffer.from('3000000000000000', 'hex')),
    (error) => SysError.is(error, 'EINVAL'),
  );
});

test('refusals carry the call and the error', () => {
  assert.throws(
    () => socket({ family: 46, type: SOCK.RAW }),
    (error) => SysError.is(error, 'EAFNOSUPPORT') && error.syscall === 'socket',
  );
  using udp = socket({ family: AF.INET, type: SOCK.DGRAM });
  for (const refused of [() => listen(udp, 1), () => accept(udp)]) {
    assert.throws(refused, (error) => SysError.is(error, 'EOPNOTSUPP'));
  }
  assert.throws(
    () => bind(udp, new Uint8Array(1)),
    (error) => SysError.is(error, 'EINVAL'),
  );
  assert.throws(
    () => peerCredentials(closed()),
    (error) => SysError.is(error, 'EBADF'),
  );
});

test('an ioctl may write more than it was given', () => {
  using netns = createNetns();
  using tun = runInNetns(netns, () => openFile('/dev/net/tun', O.RDWR));
  // struct ifreq: 16 bytes of name, then the flags IFF_TAP|IFF_NO_PI
  const request = new Uint8Array(40);
  request.set(text('hdtap%d'));
  request.set([0x02, 0x10], 16);
  const TUNSETIFF = 0x400454ca;
  const answer = ioctl(tun, TUNSETIFF, request);
  assert.equal(Buffer.from(answer.subarray(0, 7)).toString(), 'hdtap0\0');
  // Four bytes are written, one was lent.
  const TUNGETFEATURES = 0x800454cf;
  assert.equal(ioctl(tun, TUNGETFEATURES, new Uint8Array(1)).length, 1);
  assert.throws(
    () => ioctl(tun, TUNSETIFF, new Uint8Array(20_000)),
    (error) => SysError.is(error, 'E2BIG'),
  );
  assert.throws(
    () => write(tun, text('x')),
    (error) => SysError.is(error, 'EINVAL') && error.syscall === 'write',
  );
});

test('an ioctl with a number', () => {
  using netns = createNetns();
  using tun = runInNetns(netns, () => openFile('/dev/net/tun', O.RDWR));
  const TUNSETOWNER = 0x400454cc;
  // A descriptor that is no interface yet has no owner.
  assert.throws(
    () => ioctlValue(tun, TUNSETOWNER, 1000),
    (error) => SysError.is(error, 'EBADFD') && error.syscall === 'ioctl',
  );
  const request = new Uint8Array(40);
  request.set([0x02, 0x10], 16);
  ioctl(tun, 0x400454ca, request);
  assert.equal(ioctlValue(tun, TUNSETOWNER, 4_000_000_000), 0);
  const { stdout } = runInNetns(netns, () => spawnSync('ip', ['-d', 'link', 'show', 'tap0']));
  assert.match(`${stdout}`, /user 4000000000/);
});

test('descriptors arrive with the bytes that they were sent with, closed on exec', () => {
  using directory = scratchDirectory();
  const path = join(directory.path, 'socket');
  const sender = join(directory.path, 'sender');
  const source = `${sender}.c`;
  writeFileSync(source, SENDER);
  assert.equal(spawnSync('cc', ['-o', sender, source], { stdio: 'inherit' }).status, 0);
  using listener = unixListener(path);
  const before = openDescriptors();
  assert.equal(spawnSync(sender, [path, '20']).status, 0);
  using server = accept(listener, { nonblocking: true });
  assert.ok(server !== undefined);
  const first = recvDescriptors(server, 2);
  assert.equal(Buffer.from(first?.bytes ?? []).toString(), 'he');
  // The kernel closes what does not fit.
  assert.equal(first?.descriptors.length, 16);
  for (const fd of first.descriptors) {
    assert.match(readFileSync(`/proc/self/fdinfo/${fd.number}`, 'utf8'), /flags:\s+02\d{6}/);
    fd.close();
  }
  const rest = recvDescriptors(server, 100);
  assert.equal(Buffer.from(rest?.bytes ?? []).toString(), 'llo');
  assert.deepEqual(rest?.descriptors, []);
  assert.equal(recvDescriptors(server, 100)?.bytes.length, 0);
  server.close();
  assert.equal(openDescriptors(), before);
});

test('ethtool reaches a link of the namespace', () => {
  using netns = createNetns();
  using control = socket({ family: AF.INET, type: SOCK.DGRAM, netns });
  // struct ethtool_value: ETHTOOL_GTXCSUM (0x16), then the value
  const command = Uint8Array.of(0x16, 0, 0, 0, 0, 0, 0, 0);
  assert.equal(ethtool(control, 'lo', command)[4], 1);
  assert.equal(command[4], 0);
  for (const name of ['hdnone', 'a-name-that-is-too-long']) {
    assert.throws(
      () => ethtool(control, name, command),
      (error) => SysError.is(error, 'ENODEV') && error.path === name,
    );
  }
});

test('an open socket keeps nothing of a namespace but itself', () => {
  const netns = createNetns();
  const { ino } = netns;
  const route = socket({ family: AF.NETLINK, type: SOCK.RAW, protocol: NETLINK.ROUTE, netns });
  netns.close();
  route.close();
  route.close();
  assert.ok(route.closed);
  assert.doesNotMatch(
    spawnSync('lsns', ['-t', 'net', '-n'], { encoding: 'utf8' }).stdout,
    new RegExp(`^\\s*${ino}\\s`, 'm'),
  );
});

/** Connects to a path and sends `hello` with so many descriptors. */
const SENDER = `
#include <string.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
int main(int argc, char **argv) {
  int count = argc > 2 ? atoi(argv[2]) : 0, fds[32] = {0};
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  strcpy(to.sun_path, argv[1]);
  union { struct cmsghdr header; char room[CMSG_SPACE(sizeof fds)]; } control = {
      .header = {CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
  memcpy(CMSG_DATA(&control.header), fds, sizeof fds);
  struct iovec part = {"hello", 5};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                           .msg_controllen = CMSG_SPACE(count * sizeof(int))};
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  return connect(fd, (struct sockaddr *)&to, sizeof to) < 0 || sendmsg(fd, &message, 0) != 5;
}
`;

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

function unixSocket(type: number): Fd {
  return socket({ family: AF.UNIX, type, nonblocking: true });
}

function unixListener(path: string): Fd {
  const listener = unixSocket(SOCK.STREAM);
  bind(listener, unixAddress(path));
  listen(listener, 8);
  return listener;
}

/** struct sockaddr_un */
function unixAddress(path: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(AF.UNIX, 0), Buffer.from(`${path}\0`)]);
}

/** struct sockaddr_in; the port is in network order */
function inet4(address: number, port: number): Uint8Array {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(AF.INET, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.writeUInt32BE(address, 4);
  return bytes;
}

/** struct sockaddr_in6 of the loopback address */
function inet6(_address: '::1', port: number): Uint8Array {
  const bytes = Buffer.alloc(28);
  bytes.writeUInt16LE(AF.INET6, 0);
  bytes.writeUInt16BE(port, 2);
  bytes[23] = 1;
  return bytes;
}

function text(value: string): Uint8Array {
  return Buffer.from(value);
}

function closed(): Fd {
  const fd = unixSocket(SOCK.STREAM);
  fd.close();
  return fd;
}
