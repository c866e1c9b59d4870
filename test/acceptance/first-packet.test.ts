import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr } from '@heddle/netaddr';
import { PLUGINS } from '@heddle/plugins';
import { PluginLab, type TestNetns } from '@heddle/plugins/testing';
import {
  AF,
  bind,
  connect,
  type Fd,
  type NetnsHandle,
  recv,
  SOCK,
  send,
  setsockopt,
  socket,
} from '@heddle/sys';
import { addr4, addr6, encode, struct, u16, u16be, u32 } from '@heddle/wire';

const ROUNDS = 1000;
const PORT = 7777;
/** linux/in.h, linux/in6.h: an IPv6 socket that leaves IPv4 to others. */
const IPPROTO_IPV6 = 41;
const IPV6_V6ONLY = 26;

/** struct sockaddr_in, struct sockaddr_in6 (linux/in.h, linux/in6.h) */
const sockaddrIn = struct('sockaddr_in', { family: u16, port: u16be, address: addr4, zero: u32, zero2: u32 });
const sockaddrIn6 = struct('sockaddr_in6', {
  family: u16,
  port: u16be,
  flow: u32,
  address: addr6,
  scope: u32,
});

function endpoint(address: Addr): Uint8Array {
  return address.family === 4
    ? encode(sockaddrIn, { family: AF.INET, port: PORT, address })
    : encode(sockaddrIn6, { family: AF.INET6, port: PORT, address });
}

function udp(netns: NetnsHandle, family: 4 | 6): Fd {
  return socket({
    family: family === 4 ? AF.INET : AF.INET6,
    type: SOCK.DGRAM,
    protocol: 0,
    netns,
    nonblocking: true,
  });
}

/** A bound socket, and how many datagrams have arrived at it. */
function listen(netns: NetnsHandle, family: 4 | 6): { readonly fd: Fd; count(): number } {
  const fd = udp(netns, family);
  if (family === 6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  bind(fd, endpoint(family === 4 ? Addr.ZERO4 : Addr.ZERO6));
  return {
    fd,
    count() {
      let arrived = 0;
      while (recv(fd) !== undefined) arrived++;
      return arrived;
    },
  };
}

/** Sends one datagram now. */
function sendOnce(from: NetnsHandle, to: Addr): void {
  using fd = udp(from, to.family);
  connect(fd, endpoint(to));
  send(fd, Uint8Array.of(1));
}

function addressesOf(netns: TestNetns): readonly Addr[] {
  const links = netns.json('ip', '-j', 'address', 'show', 'eth0') as {
    addr_info: { local: string; scope: string }[];
  }[];
  return (links[0]?.addr_info ?? [])
    .filter(({ scope }) => scope === 'global')
    .map(({ local }) => Addr.parse(local));
}

test(`the first packet of a pod arrives, and so does the first one to it, ${ROUNDS} times of ${ROUNDS}`, async () => {
  using lab = new PluginLab([...PLUGINS.values()]);
  const config = {
    type: 'bridge',
    bridge: 'hdfirst0',
    isDefaultGateway: true,
    ipam: {
      type: 'host-local',
      dataDir: `${lab.directory}/ipam`,
      // Small pools: every address comes back a few rounds later, with another MAC.
      ranges: [
        [{ subnet: '10.66.0.0/29' }],
        [{ subnet: 'fd00:66::/64', rangeStart: 'fd00:66::2', rangeEnd: 'fd00:66::6' }],
      ],
    },
  };
  const neighbour = lab.container('neighbour');
  await lab.add({ config, container: neighbour });
  const known = addressesOf(neighbour);
  const gateways = [Addr.parse('10.66.0.1'), Addr.parse('fd00:66::1')];
  const atNeighbour = known.map(({ family }) => listen(neighbour.handle, family));
  const atHost = gateways.map(({ family }) => listen(lab.host.handle, family));
  const lost: string[] = [];
  const seen = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const pod = lab.container(`pod${round}`);
    const { ips = [] } = await lab.add({ config, container: pod });
    const own = ips.map(({ address }) => Addr.parse(address.split('/')[0] ?? ''));
    for (const target of [...known, ...gateways]) sendOnce(pod.handle, target);
    const inside = own.map(({ family }) => listen(pod.handle, family));
    for (const target of own) sendOnce(neighbour.handle, target);
    for (const target of own) sendOnce(lab.host.handle, target);
    await settled(() => {
      const counts = [...atNeighbour, ...atHost].map((each) => each.count());
      return [...counts, ...inside.map((each) => each.count())];
    }, [1, 1, 1, 1, 2, 2]).catch((error: Error) =>
      lost.push(`round ${round} (${own.join(', ')}): ${error.message}`),
    );
    for (const { fd } of inside) fd.close();
    for (const address of own) seen.add(`${address}`);
    await lab.del({ config, container: pod });
    pod[Symbol.dispose]();
  }
  for (const { fd } of [...atNeighbour, ...atHost]) fd.close();
  assert.deepEqual(lost, []);
  assert.ok(seen.size <= 10, 'addresses were reused');
});

/** Adds up what arrives until it is what was sent, for as long as a packet that waits for a neighbour may take. */
async function settled(look: () => readonly number[], expected: readonly number[]): Promise<void> {
  let sum = expected.map(() => 0);
  for (let tries = 0; tries < 200; tries++) {
    sum = look().map((count, index) => count + (sum[index] ?? 0));
    if (sum.every((count, index) => count === expected[index])) return;
    await new Promise((next) => setTimeout(next, 5));
  }
  throw new Error(`arrived ${sum.join(' ')}, sent ${expected.join(' ')}`);
}
