/** Channels and interfaces on the real kernel: a link between two namespaces, a client at one end, a stranger at the other. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Addr, Mac } from '@heddle/netaddr';
import { TestNetns } from '@heddle/netlink/testing';
import {
  AF,
  bind,
  bindNetns,
  type Fd,
  recvFrom,
  SOCK,
  SysError,
  send,
  socket,
  unbindNetns,
} from '@heddle/sys';
import { decode, encode } from '@heddle/wire';
import { decodeDatagram, encodeDatagram } from '../message/datagram.ts';
import { type DhcpMessageInput, dhcpMessage } from '../message/message.ts';
import { bootClock } from './boot-clock.ts';
import { KernelInterface, locate } from './interface.ts';

const { signal } = new AbortController();
const CLIENT = '02:00:00:00:00:01';
const STRANGER = '02:00:00:00:00:02';
const EVERYBODY = Addr.parse('255.255.255.255');

/** A veth pair: `eth0` of the pod, up, and `eth0` of a stranger, who speaks through a raw socket. */
class Pair implements Disposable {
  readonly pod = new TestNetns();
  readonly stranger = new TestNetns();
  readonly path = this.pod.path;
  readonly #raw: Fd;

  constructor() {
    const peer = ['peer', 'name', 'eth0', 'address', STRANGER, 'netns', this.stranger.path];
    this.pod.run('ip', 'link', 'add', 'eth0', 'address', CLIENT, 'type', 'veth', ...peer);
    this.pod.run('ip', 'link', 'set', 'eth0', 'up');
    this.stranger.run('ip', 'link', 'set', 'eth0', 'up');
    const ETH_P_ALL = 0x0300;
    const how = { family: AF.PACKET, type: SOCK.RAW, protocol: ETH_P_ALL, nonblocking: true };
    this.#raw = socket({ ...how, netns: this.stranger.handle });
    // struct sockaddr_ll: family, protocol in network order, index
    const index = Number(/^(\d+):/.exec(this.stranger.run('ip', '-o', 'link', 'show', 'eth0'))?.[1]);
    bind(this.#raw, Uint8Array.from([AF.PACKET, 0, 0, 3, index, ...new Uint8Array(15)]));
  }

  /** Sends a frame to the pod. */
  transmit(type: number, payload: Uint8Array, to = CLIENT): void {
    const header = [...Mac.parse(to).toBytes(), ...Mac.parse(STRANGER).toBytes(), type >> 8, type & 0xff];
    send(this.#raw, Uint8Array.from([...header, ...payload]));
  }

  /** The next frame of the pod that is of this type. */
  async heard(type: number): Promise<Uint8Array> {
    for (;;) {
      const frame = recvFrom(this.#raw)?.bytes;
      if (frame === undefined) await bootClock.sleep(5, signal);
      else if (frame[12] === type >> 8 && frame[13] === (type & 0xff)) return frame;
    }
  }

  async interface(): Promise<KernelInterface> {
    return new KernelInterface(await locate(this.path, 'eth0'), bootClock);
  }

  [Symbol.dispose](): void {
    this.#raw.close();
    this.stranger[Symbol.dispose]();
    this.pod[Symbol.dispose]();
  }
}

const IPV4 = 0x0800;
const ARP = 0x0806;

function reply(xid: number, more: { port?: number; to?: Addr } = {}): Uint8Array {
  const message: DhcpMessageInput = { op: 'reply', xid, options: { messageType: 'offer' } };
  return encodeDatagram({
    from: { address: Addr.parse('192.0.2.1'), port: 67 },
    to: { address: more.to ?? Addr.parse('192.0.2.5'), port: more.port ?? 68 },
    payload: encode(dhcpMessage, message),
  });
}

test('a message goes out as it should, and its answer comes in, to an address that nobody has yet', async () => {
  using pair = new Pair();
  const link = await pair.interface();
  using channel = await link.openLink();
  assert.equal(`${link.hardwareAddress}`, CLIENT);
  channel.send({ op: 'request', xid: 7, options: {} }, { from: Addr.ZERO4, to: EVERYBODY });
  const frame = await pair.heard(IPV4);
  assert.equal(`${Mac.fromBytes(frame.subarray(0, 6))}`, 'ff:ff:ff:ff:ff:ff');
  const datagram = decodeDatagram(frame.subarray(14));
  assert.deepEqual(
    [datagram?.from.port, datagram?.to.port, `${datagram?.to.address}`],
    [68, 67, '255.255.255.255'],
  );
  assert.equal(decode(dhcpMessage, datagram?.payload ?? new Uint8Array()).xid, 7);

  pair.transmit(IPV4, reply(7));
  const received = await channel.receive(bootClock.now() + 5000, signal);
  assert.equal(received?.message.xid, 7);
  assert.equal(`${received?.mac}`, STRANGER);

  const mac = Mac.parse(STRANGER);
  channel.send({ op: 'request', xid: 8, options: {} }, { from: Addr.ZERO4, to: EVERYBODY, mac });
  assert.equal(`${Mac.fromBytes((await pair.heard(IPV4)).subarray(0, 6))}`, STRANGER);
});

test('only messages for DHCP clients wake a channel', async () => {
  using pair = new Pair();
  const link = await pair.interface();
  using channel = await link.openLink();
  const good = reply(1);
  const changed = (at: number, value: number) =>
    Uint8Array.from(good, (byte, index) => (index === at ? value : byte));
  pair.transmit(IPV4, reply(2, { port: 69 }));
  pair.transmit(IPV4, changed(9, 6));
  pair.transmit(IPV4, changed(7, 1));
  pair.transmit(0x86dd, good);
  // In VLAN 5, and a message that is cut.
  pair.transmit(0x8100, Uint8Array.from([0, 5, 8, 0, ...good]));
  pair.transmit(IPV4, good.subarray(0, 200));
  pair.transmit(IPV4, good);
  assert.equal((await channel.receive(bootClock.now() + 5000, signal))?.message.xid, 1);
  assert.equal(await channel.receive(bootClock.now() + 50, signal), undefined);
});

test('a header with options moves the ports, and the filter follows', async () => {
  using pair = new Pair();
  using channel = await (await pair.interface()).openLink();
  const packet = reply(3);
  const longer = Uint8Array.from([...packet.subarray(0, 20), 1, 1, 1, 0, ...packet.subarray(20)]);
  longer[0] = 0x46;
  new DataView(longer.buffer).setUint16(2, longer.length);
  pair.transmit(IPV4, longer);
  assert.equal((await channel.receive(bootClock.now() + 5000, signal))?.message.xid, 3);
});

test('a probe finds who has an address, and waits no longer than it should when nobody has', async () => {
  using pair = new Pair();
  using channel = await (await pair.interface()).openLink();
  const address = Addr.parse('192.0.2.5');
  assert.equal(await channel.probe(address, 60, signal), undefined);
  const probe = await pair.heard(ARP);
  assert.equal(
    Buffer.from(probe).toString('hex'),
    'ffffffffffff0200000000010806' + '0001080006040001' + '02000000000100000000' + '000000000000c0000205',
  );
  pair.stranger.run('ip', 'address', 'add', '192.0.2.5/24', 'dev', 'eth0');
  assert.equal(`${await channel.probe(address, 5000, signal)}`, STRANGER);
});

test('a way through the host’s IP hears direct and broadcast answers', async () => {
  using pair = new Pair();
  pair.pod.run('ip', 'address', 'add', '192.0.2.5/24', 'dev', 'eth0');
  pair.stranger.run('ip', 'address', 'add', '192.0.2.1/24', 'dev', 'eth0');
  using channel = await (await pair.interface()).openAddress(Addr.parse('192.0.2.5'));
  channel.send(
    { op: 'request', xid: 9, options: {} },
    { from: Addr.parse('192.0.2.5'), to: Addr.parse('192.0.2.1') },
  );
  const datagram = decodeDatagram((await pair.heard(IPV4)).subarray(14));
  assert.deepEqual(
    [`${datagram?.from.address}`, datagram?.from.port, datagram?.to.port],
    ['192.0.2.5', 68, 67],
  );
  for (const [xid, to] of [
    [1, Addr.parse('192.0.2.5')],
    [2, EVERYBODY],
  ] as const) {
    pair.transmit(IPV4, reply(xid, { to }));
    assert.equal((await channel.receive(bootClock.now() + 5000, signal))?.message.xid, xid);
  }
});

test('a way through the host’s IP needs the address, and its port', async () => {
  using pair = new Pair();
  const link = await pair.interface();
  const address = Addr.parse('192.0.2.5');
  // A namespace that never had an address knows of no foreign ones either.
  pair.pod.run('ip', 'address', 'add', '192.0.2.6/24', 'dev', 'eth0');
  await assert.rejects(link.openAddress(address), (error) => SysError.is(error, 'EADDRNOTAVAIL'));
  pair.pod.run('ip', 'address', 'add', '192.0.2.5/24', 'dev', 'eth0');
  using other = socket({ family: AF.INET, type: SOCK.DGRAM, netns: pair.pod.handle });
  // struct sockaddr_in: family, port 68 in network order, any address
  bind(other, Uint8Array.from([AF.INET, 0, 0, 68, ...new Uint8Array(12)]));
  await assert.rejects(link.openAddress(address), (error) => SysError.is(error, 'EADDRINUSE'));
});

test('when the link goes down, whoever waits hears it, and a new channel works when it is up again', async () => {
  using pair = new Pair();
  const link = await pair.interface();
  using channel = await link.openLink();
  const waiting = assert.rejects(channel.receive(bootClock.now() + 5000, signal), (error) =>
    SysError.is(error, 'ENETDOWN'),
  );
  await link.setDown();
  await waiting;
  assert.match(pair.pod.run('ip', 'link', 'show', 'eth0'), /state DOWN/);
  await link.setUp();
  using again = await link.openLink();
  pair.transmit(IPV4, reply(4));
  assert.equal((await again.receive(bootClock.now() + 5000, signal))?.message.xid, 4);
});

test('an interface is known by its number: a new name is fine, another one of the name is not', async () => {
  using pair = new Pair();
  const link = await pair.interface();
  pair.pod.run('ip', 'link', 'set', 'eth0', 'down');
  pair.pod.run('ip', 'link', 'set', 'eth0', 'name', 'net0');
  await link.check();
  pair.pod.run('ip', 'link', 'set', 'net0', 'address', '02:00:00:00:00:09');
  await link.setUp();
  assert.equal(`${link.hardwareAddress}`, '02:00:00:00:00:09');
  pair.pod.run('ip', 'link', 'delete', 'net0');
  pair.pod.run('ip', 'link', 'add', 'eth0', 'index', '77', 'type', 'veth', 'peer', 'name', 'eth1');
  for (const use of [
    () => link.check(),
    () => link.openLink(),
    () => link.openAddress(EVERYBODY),
    () => link.setDown(),
  ]) {
    await assert.rejects(use, gone(/^the interface eth0 in .* is gone$/));
  }
});

test('a namespace is known by the kernel’s number for it', async () => {
  using pair = new Pair();
  const directory = mkdtempSync(join(tmpdir(), 'heddle-dhcp-'));
  const path = join(directory, 'netns');
  try {
    bindNetns(pair.pod.handle, path);
    const link = new KernelInterface(await locate(path, 'eth0'), bootClock);
    await link.check();
    unbindNetns(path);
    await assert.rejects(link.check(), gone(/ENOENT/));
    // What is left of a path that was unmounted elsewhere.
    writeFileSync(path, '');
    await assert.rejects(link.check(), gone(/unknown FS magic/));
    rmSync(path);
    bindNetns(pair.stranger.handle, path);
    await assert.rejects(link.check(), gone(/is another namespace now$/));
  } finally {
    unbindNetns(path);
    rmSync(directory, { recursive: true });
  }
});

test('what cannot have a lease', async () => {
  using pair = new Pair();
  await assert.rejects(locate(pair.path, 'none0'), gone(/^there is no interface none0 in /));
  await assert.rejects(locate('/nowhere', 'eth0'), gone(/ENOENT/));
  await assert.rejects(locate(pair.path, 'lo'), {
    code: 'DHCP_INTERFACE_UNFIT',
    message: /has no hardware address of Ethernet$/,
  });
});

function gone(message: RegExp) {
  return { code: 'DHCP_INTERFACE_GONE', message } as const;
}
