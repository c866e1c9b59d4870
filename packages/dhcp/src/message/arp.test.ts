import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Mac } from '@heddle/netaddr';
import { decode, encode, WireError } from '@heddle/wire';
import { arpPacket, arpProbe, conflictIn } from './arp.ts';

const own = Mac.parse('02:00:00:00:00:01');
const other = Mac.parse('02:00:00:00:00:02');
const probed = Addr.parse('192.0.2.5');
const elsewhere = Addr.parse('192.0.2.6');

test('a probe is what `arping -D -I eth0 192.0.2.5` sends, to the byte', () => {
  assert.equal(
    Buffer.from(encode(arpPacket, arpProbe(own, probed))).toString('hex'),
    '0001080006040001' + '020000000001' + '00000000' + '000000000000' + 'c0000205',
  );
});

test('a packet that is written is read again, and no part of one', () => {
  const packet = { ...arpProbe(own, probed), operation: 'reply' } as const;
  const bytes = encode(arpPacket, packet);
  const { senderMac, targetAddress, operation } = decode(arpPacket, bytes);
  assert.deepEqual(
    { senderMac, targetAddress, operation },
    { senderMac: own, targetAddress: probed, operation: 'reply' },
  );
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decode(arpPacket, bytes.subarray(0, length)), WireError);
  }
});

test('whoever sends from the address has it; whoever probes for it wants it (RFC 5227 §2.1.1)', () => {
  const packet = arpProbe(other, probed);
  const from = (senderAddress: Addr) => ({ ...packet, senderAddress });
  assert.equal(conflictIn({ ...from(probed), operation: 'reply' }, own, probed), other);
  assert.equal(conflictIn(from(probed), own, probed), other);
  assert.equal(conflictIn(packet, own, probed), other);
});

test('others, and the interface itself, do not', () => {
  assert.equal(conflictIn(arpProbe(own, probed), own, probed), undefined);
  assert.equal(conflictIn({ ...arpProbe(own, probed), senderAddress: probed }, own, probed), undefined);
  assert.equal(conflictIn(arpProbe(other, elsewhere), own, probed), undefined);
  // Somebody asks for it, as everybody may.
  const asks = { ...arpProbe(other, probed), senderAddress: elsewhere };
  assert.equal(conflictIn(asks, own, probed), undefined);
  assert.equal(conflictIn({ ...arpProbe(other, probed), operation: 'reply' }, own, probed), undefined);
});
