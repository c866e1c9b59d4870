import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeAside, sendAside } from './aside.ts';
import { AF, MSG, NETLINK, SOCK } from './constants.ts';
import { createNetns } from './netns.ts';
import { bind, getsockname, recv, socket } from './socket.ts';
import { SysError } from './sys-error.ts';
import { getLoopback, getNoLink, raiseLoopback, typeOf } from './testing/messages.ts';
import { routeSocket } from './testing/route-socket.ts';
import { openDescriptors } from './testing/scratch.ts';
import { transactSync } from './transact.ts';

const NLMSG_ERROR = 2;

test('a request is made by another process, and answered on the socket', () => {
  using netns = createNetns();
  using route = routeSocket(netns);
  const before = openDescriptors();
  for (const request of [raiseLoopback, getNoLink]) {
    using aside = sendAside(route, request);
    const answers: unknown[] = [];
    while (aside.awaitAnswer()) answers.push(typeOf(recv(route, undefined, MSG.DONTWAIT)));
    assert.deepEqual(answers, [NLMSG_ERROR]);
    // Whoever asks once more hears the same.
    assert.equal(aside.awaitAnswer(), false);
  }
  assert.equal((transactSync(route, getLoopback)[0]?.[24] ?? 0) & 1, 1); // ifi_flags, IFF_UP
  assert.equal(openDescriptors(), before);
});

test('a socket that is closed aside is no longer ours, and stays in use until we end', () => {
  using netns = createNetns();
  const route = routeSocket(netns);
  bind(route, address(4711));
  assert.deepEqual(getsockname(route), address(4711));
  closeAside(route);
  assert.ok(route.closed);
  using other = socket({ family: AF.NETLINK, type: SOCK.RAW, protocol: NETLINK.ROUTE, netns });
  assert.throws(
    () => bind(other, address(4711)),
    (error) => SysError.is(error, 'EADDRINUSE'),
  );
});

/** struct sockaddr_nl */
function address(port: number): Uint8Array {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, AF.NETLINK, true);
  view.setUint32(4, port, true);
  return bytes;
}
