/** The floor says what the agent says, and attaches pods by it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { DEFAULT_WORKLOAD, measureNetwork, seeded } from '@heddle/bench';
import { listing } from '../../bench/floor/listing.ts';
import { record } from '../../bench/floor/recording.ts';
import { Trace } from '../../bench/floor/trace.ts';
import { lanes } from '../../bench/lanes.ts';
import { BRIDGE } from '../../bench/networks.ts';

describe('the notes of strace', () => {
  const notes = [
    '7     socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_ROUTE) = 20',
    '7     socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 21',
    '8     sendto(0x14, 0x7f0000000000, 0x12, 0x4000, 0, 0 <unfinished ...>',
    '7     setns(30, CLONE_NEWNET)           = 0',
    '8     <... sendto resumed>)              = 0x12',
    ' | 00000  01 02 03 04 05 06 07 08  09 0a 0b 0c 0d 0e 0f 10  ................ |',
    ' | 00010  11 12                                             ..               |',
    '7     socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_ROUTE) = 22',
    '7     setns(34, CLONE_NEWNET)           = 0',
    '7     sendto(0x15, 0x7f0000000000, 0x2, 0x4000, 0, 0) = 0x2',
    ' | 00000  ff ff                                             ..               |',
    '7     sendto(0x16, 0x7f0000000000, 0x2, 0x4000, 0, 0) = 0x2',
    ' | 00000  aa bb                                             ..               |',
    '7     close(22)                         = 0',
    '',
  ].join('\n');

  test('tell what was sent, and whose socket it was', () => {
    const { sent, netns } = new Trace().read(notes);
    assert.deepEqual(
      sent.map(({ where, bytes }) => [where, bytes.toString('hex')]),
      [
        ['host', '0102030405060708090a0b0c0d0e0f101112'],
        ['pod', 'aabb'],
      ],
    );
    assert.deepEqual(netns, [30]);
  });

  test('are understood in pieces', () => {
    const trace = new Trace();
    trace.read(notes);
    const { sent } = trace.read('7     sendto(0x16, 0x0, 0x1, 0, 0, 0) = 1\n | 00000  aa   . |\n');
    assert.deepEqual(sent, [], 'the socket was closed');
    const again = trace.read('7     sendto(0x14, 0x0, 0x1, 0, 0, 0) = 1\n | 00000  ab   . |\n');
    assert.deepEqual(again.sent, [{ where: 'host', bytes: Buffer.from([0xab]) }]);
  });
});

test('messages are listed with the kernel’s names', () => {
  const message = Buffer.from('1800000012000500010000000000000000000000000000000000000000000000', 'hex');
  message.writeUInt32LE(message.length + 8, 0);
  const name = Buffer.from('0800030065746830', 'hex');
  assert.equal(
    listing({ sent: [{ where: 'pod', bytes: Buffer.concat([message, name]) }], netns: [] }),
    '1. pod\n   - RTM_GETLINK `IFLA_IFNAME`\n',
  );
});

const skip = existsSync('/usr/bin/strace') ? false : 'not installed: strace';

test('a recording attaches pods that are on the network', { skip }, async () => {
  const rounds = 2;
  const { directory, add, del } = await record(lanes().client, BRIDGE, rounds + 2);
  for (const kind of ['RTM_NEWLINK', 'RTM_NEWADDR']) assert.match(listing(add), new RegExp(kind));
  assert.match(listing(del), /RTM_DELLINK/);
  assert.ok(add.sent.some(({ where }) => where === 'pod') && add.sent.some(({ where }) => where === 'host'));
  const workload = { ...DEFAULT_WORKLOAD, rounds, warmup: 0 };
  const report = await measureNetwork(BRIDGE, [{ contender: { name: 'floor', directory } }], workload, {
    random: seeded(1),
  });
  assert.deepEqual(report.probes, ['10.77.0.1']);
  for (const { verb, latency, failures } of report.measurements) {
    assert.deepEqual(failures, {}, verb);
    assert.equal(latency.count, rounds, verb);
  }
  assert.match(readFileSync(`${directory}/bench-pod0.ADD`, 'latin1'), /^netns \d+\nhost [0-9a-f]+\n/);
});
