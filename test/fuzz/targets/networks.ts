/** What other machines and the host's services send: DHCP, ARP, ICMP, D-Bus. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Addr, Mac } from '@heddle/netaddr';
import { decode, encode, WireError } from '@heddle/wire';
import * as v from 'valibot';
import { decodeMessage, encodeMessage, messageLength } from '../../../packages/dataplane/src/dbus/message.ts';
import { string, uint32 } from '../../../packages/dataplane/src/dbus/types.ts';
import { leaseSchema } from '../../../packages/dhcp/src/leases/lease-json.ts';
import { arpPacket, arpProbe, conflictIn } from '../../../packages/dhcp/src/message/arp.ts';
import { decodeDatagram, encodeDatagram } from '../../../packages/dhcp/src/message/datagram.ts';
import { dhcpMessage } from '../../../packages/dhcp/src/message/message.ts';
import { questionSchema } from '../../../packages/dhcp/src/protocol.ts';
import { readAnswer } from '../../../packages/doctor/src/probe/icmp.ts';
import { joined } from '../engine/mutate-bytes.ts';
import { jsonSeeds, type Target, textOf, valueUnless } from '../engine/target.ts';

const VECTORS = new URL('../../../packages/dhcp/src/message/vectors/', import.meta.url);
const captured = () =>
  [
    'dhcpd-ack',
    'dnsmasq-ack',
    'dnsmasq-discover',
    'dnsmasq-offer',
    'dnsmasq-release',
    'dnsmasq-request',
    'kea-ack',
  ].map((name) => {
    const text = readFileSync(new URL(`${name}.hex`, VECTORS), 'latin1');
    return Uint8Array.from(Buffer.from(text.replaceAll('\n', ''), 'hex'));
  });

const datagram: Target = {
  name: 'dhcp-datagram',
  shape: { of: 'bytes' },
  seeds: captured,
  run(input) {
    const read = decodeDatagram(input);
    if (read === undefined) return;
    assert.deepEqual(decodeDatagram(encodeDatagram(read)), read);
    valueUnless([WireError], () => decode(dhcpMessage, read.payload));
  },
};

const message: Target = {
  name: 'dhcp-message',
  shape: { of: 'bytes' },
  seeds: () => captured().flatMap((packet) => decodeDatagram(packet)?.payload ?? []),
  run: (input) => void valueUnless([WireError], () => decode(dhcpMessage, input)),
};

const own = Mac.parse('02:00:00:00:00:01');
const probed = Addr.parse('192.0.2.5');
const arp: Target = {
  name: 'arp',
  shape: { of: 'bytes' },
  seeds: () => [encode(arpPacket, arpProbe(own, probed))],
  run(input) {
    const packet = valueUnless([WireError], () => decode(arpPacket, input));
    if (packet !== undefined) conflictIn(packet, own, probed);
  },
};

/** Behind a byte whose lowest bit is the family. */
const icmp: Target = {
  name: 'icmp',
  shape: { of: 'bytes' },
  seeds: () => {
    const ip = Uint8Array.of(0x45, 0, 0, 28, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2);
    const echo = (type: number, code = 0) => Uint8Array.of(type, code, 0, 0, 0, 7, 0, 1);
    const ip6 = new Uint8Array(40);
    return [
      joined([Uint8Array.of(0), ip, echo(0)]),
      joined([Uint8Array.of(0), ip, echo(3, 4), ip, echo(8)]),
      joined([Uint8Array.of(0), ip, echo(11), ip, echo(8)]),
      joined([Uint8Array.of(1), echo(129)]),
      joined([Uint8Array.of(1), echo(1, 3), ip6, echo(128)]),
      joined([Uint8Array.of(1), echo(2), ip6, echo(128)]),
    ];
  },
  run: (input) => void readAnswer(((input[0] ?? 0) & 1) === 0 ? 4 : 6, input.slice(1)),
};

const dbus: Target = {
  name: 'dbus',
  shape: { of: 'bytes' },
  seeds: () => [
    encodeMessage({
      ...{ type: 1, serial: 1, path: '/org/fedoraproject/FirewallD1', interface: 'x.y', member: 'm' },
      ...{
        destination: 'org.x',
        body: [
          { type: string, value: 'a' },
          { type: uint32, value: 5 },
        ],
      },
    } as never),
    encodeMessage({ type: 2, serial: 2, replyTo: 1, sender: ':1.1', body: [] } as never),
    encodeMessage({
      type: 3,
      serial: 2,
      replyTo: 1,
      errorName: 'x.e',
      body: [{ type: string, value: 'b' }],
    } as never),
  ],
  run(input) {
    if (input.length >= 16) valueUnless([WireError], () => messageLength(input.subarray(0, 16)));
    valueUnless([WireError], () => decodeMessage(input));
  },
};

const lease = {
  ...{ prefix: '192.0.2.5/24', server: '192.0.2.1', serverMac: '02:00:00:00:00:01' },
  ...{
    renewAt: 1,
    rebindAt: 2,
    expiresAt: null,
    routers: ['192.0.2.1'],
    nameServers: [],
    domain: 'x',
    search: ['y'],
  },
  staticRoutes: [{ destination: '10.0.0.0/8', router: '192.0.2.2' }],
  classlessRoutes: [],
};

/** See the file's comment. */
export const NETWORK_TARGETS: readonly Target[] = [
  datagram,
  message,
  arp,
  icmp,
  dbus,
  {
    name: 'lease',
    shape: { of: 'json' },
    seeds: jsonSeeds(lease),
    run(input) {
      const read = valueUnless([SyntaxError, v.ValiError], () =>
        v.parse(leaseSchema, JSON.parse(textOf(input))),
      );
      if (read === undefined) return;
      assert.deepEqual(v.parse(leaseSchema, JSON.parse(JSON.stringify(read))), read);
    },
  },
  {
    name: 'lease-question',
    shape: { of: 'json' },
    seeds: jsonSeeds(
      { ask: 'greet' },
      {
        ...{ ask: 'adopt', owner: { network: 'n', containerID: 'c', ifName: 'eth0' }, netns: '/n' },
        ...{ provide: [{ code: 12, data: 'aGk=' }], parameters: [1, 3], prefix: '192.0.2.5/24' },
      },
    ),
    run: (input) =>
      void valueUnless([SyntaxError, v.ValiError], () => v.parse(questionSchema, JSON.parse(textOf(input)))),
  },
];
