import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import { decode, encode, WireError } from '@heddle/wire';
import fc from 'fast-check';
import { checksum, decodeDatagram, encodeDatagram } from './datagram.ts';
import { type DhcpMessageInput, dhcpMessage } from './message.ts';

/** Objects as everybody makes them. */
const PLAIN = { noNullPrototype: true } as const;

/** A packet from its IPv4 header on, as `tcpdump` saw it on a bridge between the client and a server. */
function captured(name: string): Uint8Array {
  const text = readFileSync(new URL(`vectors/${name}.hex`, import.meta.url), 'latin1');
  return new Uint8Array(Buffer.from(text.replaceAll('\n', ''), 'hex'));
}

function messageIn(packet: Uint8Array) {
  const datagram = decodeDatagram(packet);
  assert.ok(datagram !== undefined);
  return decode(dhcpMessage, datagram.payload);
}

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();
const addr = (address: string) => Addr.parse(address);

test('an acknowledgement of dnsmasq, with classless routes and a search list', () => {
  const { options, ...message } = messageIn(captured('dnsmasq-ack'));
  assert.deepEqual(
    [message.op, message.broadcast, `${message.ciaddr}`, `${message.yiaddr}`, `${message.siaddr}`],
    ['reply', false, '0.0.0.0', '192.168.1.85', '192.168.1.1'],
  );
  assert.equal(`${Mac.fromBytes(message.hardwareAddress)}`, 'f6:62:e8:7c:c0:96');
  const { unknown, ...known } = options;
  assert.deepEqual(known, {
    messageType: 'ack',
    serverId: addr('192.168.1.1'),
    leaseTime: 120,
    renewalTime: 60,
    rebindingTime: 105,
    subnetMask: addr('255.255.255.0'),
    routers: [addr('192.168.1.1')],
    domainName: 'example.org',
    nameServers: [addr('192.168.1.53')],
    domainSearch: ['a.example', 'b.example'],
    classlessRoutes: [
      { destination: Prefix.parse('10.0.0.0/8'), router: addr('192.168.1.2') },
      { destination: Prefix.parse('0.0.0.0/0'), router: addr('192.168.1.1') },
    ],
  });
  // The broadcast address.
  assert.deepEqual(unknown, [{ code: 28, data: addr('192.168.1.255').toBytes() }]);
});

test('an acknowledgement of ISC dhcpd, with a static route', () => {
  const { yiaddr, options } = messageIn(captured('dhcpd-ack'));
  assert.equal(`${yiaddr}`, '192.168.1.5');
  assert.equal(options.messageType, 'ack');
  assert.equal(options.leaseTime, 600);
  assert.equal(options.domainName, 'example.org');
  assert.deepEqual(options.staticRoutes, [
    { destination: Prefix.parse('10.1.2.3/32'), router: addr('192.168.1.2') },
  ]);
});

test('an acknowledgement of Kea, with its own times and the client’s identifier', () => {
  const { options } = messageIn(captured('kea-ack'));
  assert.deepEqual([options.leaseTime, options.renewalTime, options.rebindingTime], [600, 200, 400]);
  assert.deepEqual(options.domainSearch, ['a.example', 'b.example']);
  assert.equal(text(options.clientId), '\0c1/net1/eth0');
});

test('a request is as dnsmasq understood it, to the byte', () => {
  const packet = captured('dnsmasq-request');
  const { options, xid, hardwareAddress } = messageIn(packet);
  const message: DhcpMessageInput = {
    ...{ op: 'request', xid, hardwareAddress },
    options: {
      messageType: 'request',
      clientId: Buffer.from('\0c1/net1/eth0'),
      requestedAddress: addr('192.168.1.85'),
      serverId: addr('192.168.1.1'),
      maxMessageSize: 1500,
      parameters: Uint8Array.of(1, 121, 3, 33, 6, 15, 119),
      unknown: [{ code: 12, data: Buffer.from('web') }],
    },
  };
  assert.equal(options.messageType, 'request');
  const from = { address: Addr.ZERO4, port: 68 };
  const to = { address: addr('255.255.255.255'), port: 67 };
  assert.deepEqual(encodeDatagram({ from, to, payload: encode(dhcpMessage, message) }), packet);
});

test('options may lie in the fields for the file and the server’s name, when the options say so', () => {
  const message = { op: 'reply', options: { messageType: 'ack', overload: 3 } } as const;
  const bytes = encode(dhcpMessage, message);
  // sname at 44: the second part of the lease time; file at 108: its first part, and the domain.
  bytes.set([51, 2, 0, 60, 255], 44);
  bytes.set([15, 3, 0x61, 0x2e, 0x62, 51, 2, 0, 0, 255], 108);
  const { options } = decode(dhcpMessage, bytes);
  assert.deepEqual([options.leaseTime, options.domainName], [60, 'a.b']);
  bytes.set([52, 1, 1], 243);
  assert.equal(decode(dhcpMessage, bytes).options.leaseTime, undefined);
});

test('a message is never shorter than BOOTP’s, and says Ethernet', () => {
  const bytes = encode(dhcpMessage, { op: 'request', broadcast: true, options: {} });
  assert.equal(bytes.length, 300);
  assert.deepEqual([...bytes.subarray(0, 4), ...bytes.subarray(10, 12)], [1, 1, 0, 0, 0x80, 0]);
});

test('a message that is cut, anywhere, is refused or has lost options only', () => {
  const datagram = decodeDatagram(captured('dnsmasq-ack'));
  assert.ok(datagram !== undefined);
  for (let length = 0; length < datagram.payload.length; length++) {
    try {
      decode(dhcpMessage, datagram.payload.subarray(0, length));
      assert.ok(length >= 240);
    } catch (error) {
      assert.ok(error instanceof WireError, String(error));
    }
  }
  const other = datagram.payload.slice();
  other[236] = 0;
  assert.throws(() => decode(dhcpMessage, other), /has no magic number of DHCP/);
});

test('a message that is written is read again', () => {
  const address = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => Addr.fromBytes(bytes));
  const message = fc.record(
    {
      op: fc.constantFrom('request', 'reply'),
      xid: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      secs: fc.integer({ min: 0, max: 0xffff }),
      broadcast: fc.boolean(),
      ...{ ciaddr: address, yiaddr: address, siaddr: address, giaddr: address },
      hardwareAddress: fc.uint8Array({ minLength: 6, maxLength: 6 }),
      options: fc.record(
        {
          messageType: fc.constantFrom(
            'discover',
            'offer',
            'request',
            'ack',
            'nak',
            'release',
            'decline',
            'inform',
          ),
          leaseTime: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
          routers: fc.array(address, { maxLength: 3 }),
          clientId: fc.uint8Array({ minLength: 1, maxLength: 255 }),
        },
        PLAIN,
      ),
    },
    PLAIN,
  );
  fc.assert(
    fc.property(message, (value) => {
      assert.deepEqual(decode(dhcpMessage, encode(dhcpMessage, value)), value);
    }),
  );
});

test('a datagram carries its addresses, and checksums that add up', () => {
  const end = fc.record(
    {
      address: fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => Addr.fromBytes(bytes)),
      port: fc.integer({ min: 0, max: 0xffff }),
    },
    PLAIN,
  );
  fc.assert(
    fc.property(end, end, fc.uint8Array({ maxLength: 99 }), (from, to, payload) => {
      const packet = encodeDatagram({ from, to, payload });
      assert.deepEqual(decodeDatagram(packet), { from, to, payload });
      // What Ethernet adds to a short frame is no part of it.
      assert.deepEqual(decodeDatagram(Uint8Array.from([...packet, 0, 0, 0])), { from, to, payload });
      assert.equal(checksum([packet.subarray(0, 20)]), 0);
      const length = packet.length - 20;
      const pseudo = Uint8Array.from([...packet.subarray(12, 20), 0, 17, length >> 8, length & 0xff]);
      assert.equal(checksum([pseudo, packet.subarray(20)]), 0);
    }),
  );
});

test('what is no whole UDP datagram is none', () => {
  const packet = captured('dnsmasq-ack');
  const changed = (at: number, value: number) => {
    const copy = packet.slice();
    copy[at] = value;
    return copy;
  };
  const others = {
    IPv6: changed(0, 0x65),
    'a header of 16 bytes': changed(0, 0x44),
    TCP: changed(9, 6),
    'a first fragment': changed(6, 0x20),
    'a later fragment': changed(7, 1),
    'longer than it is': changed(2, 0x7f),
    'a UDP length that is too short': changed(25, 0).fill(0, 24, 25),
    'a UDP length that is too long': changed(24, 0x7f),
  };
  for (const [what, bytes] of Object.entries(others)) assert.equal(decodeDatagram(bytes), undefined, what);
  for (let length = 0; length < packet.length; length++) {
    assert.equal(decodeDatagram(packet.subarray(0, length)), undefined);
  }
  assert.ok(decodeDatagram(changed(6, 0x40)) !== undefined, '"do not fragment" is no fragment');
  fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => void decodeDatagram(bytes)));
});
