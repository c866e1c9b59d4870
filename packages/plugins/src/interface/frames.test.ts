import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Mac } from '@heddle/netaddr';
import { decode } from '@heddle/wire';
import fc from 'fast-check';
import {
  announcement,
  arpPacket,
  ethernetHeader,
  internetChecksum,
  ipv6Header,
  neighbourAdvertisement,
} from './frames.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const octets = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test('gratuitous ARP is a broadcast request for the address of its sender', () => {
  assert.equal(
    hex(announcement(Mac.parse('02:00:00:00:00:01'), Addr.parse('10.1.2.3'))),
    'ffffffffffff0200000000010806' + '0001080006040001' + '0200000000010a010203' + '0000000000000a010203',
  );
});

test('an unsolicited advertisement goes to all nodes, overrides, and its checksum holds', () => {
  fc.assert(
    fc.property(octets(6), octets(16), (macBytes, addrBytes) => {
      const mac = Mac.fromBytes(macBytes);
      const address = Addr.fromBytes(addrBytes);
      const frame = announcement(mac, address);
      assert.equal(frame.length, 14 + 40 + 32);
      const ethernet = decode(ethernetHeader, frame);
      assert.equal(`${ethernet.destination}`, '33:33:00:00:00:01');
      assert.ok(ethernet.source.equals(mac));
      const ip = decode(ipv6Header, frame.subarray(14));
      assert.equal(ip.version >>> 28, 6);
      assert.equal(ip.hopLimit, 255);
      assert.equal(`${ip.destination}`, 'ff02::1');
      const advert = decode(neighbourAdvertisement, frame.subarray(54));
      assert.deepEqual([advert.type, advert.flags, advert.optionType], [136, 0x20, 2]);
      assert.ok(advert.target.equals(address));
      assert.ok(advert.targetMac.equals(mac));
      // Addresses, length and next header, then the message: with the checksum in it the sum is zero.
      const summed = Buffer.concat([
        frame.subarray(22, 54),
        Buffer.from([0, 0, 0, 32, 0, 0, 0, 58]),
        frame.subarray(54),
      ]);
      assert.equal(internetChecksum(summed), 0);
    }),
  );
});

test('an ARP announcement names the address as sender and as target', () => {
  fc.assert(
    fc.property(octets(6), octets(4), (macBytes, addrBytes) => {
      const frame = announcement(Mac.fromBytes(macBytes), Addr.fromBytes(addrBytes));
      const arp = decode(arpPacket, frame.subarray(14));
      assert.ok(arp.senderAddress.equals(arp.targetAddress));
      assert.deepEqual([...arp.senderMac.toBytes()], [...macBytes]);
      assert.ok(arp.targetMac.isZero);
    }),
  );
});

test('the checksum of RFC 1071, section 3', () => {
  assert.equal(
    internetChecksum(Uint8Array.of(0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7)),
    ~0xddf2 & 0xffff,
  );
  assert.equal(internetChecksum(Uint8Array.of(0x12)), ~0x1200 & 0xffff);
});
