import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr } from '@heddle/netaddr';
import { decode, encode, WireError } from '@heddle/wire';
import fc from 'fast-check';
import { flowMessage } from './codec.ts';
import { decodeFlow, type FlowFilter, filterAttributes, keyAttributes, matches } from './flow.ts';

/** Entries as Linux 6.18 lists them, by the command that made them. */
const CAPTURES = {
  'conntrack -I -p udp -s 10.0.0.1 -d 10.0.0.2 --sport 1000 --dport 53 -t 100 -w 7':
    '020000003400018014000180080001000a000001080002000a0000021c00028005000100110000000600020003e80000' +
    '06000300003500003400028014000180080001000a000002080002000a0000011c000280050001001100000006000200' +
    '003500000600030003e8000006001200000700000800030000000008080008000000000008000c001b27777808000b00' +
    '0000000108000700000000631c001880080001000000000008000200000000000800030000000000',
  'conntrack -I -p icmp -s 1.1.1.1 -d 2.2.2.2 --icmp-type 8 --icmp-code 0 --icmp-id 7 -t 50':
    '020000003c00018014000180080001000101010108000200020202022400028005000100010000000600040000070000' +
    '050005000800000005000600000000003c00028014000180080001000202020208000200010101012400028005000100' +
    '010000000600040000070000050005000000000005000600000000000800030000000008080008000000000008000c00' +
    'a0c248e708000b000000000108000700000000311c001880080001000000000008000200000000000800030000000000',
  'conntrack -I -p tcp -s fd00::1 -d fd00::2 --sport 1000 --dport 80 -t 100 --state ESTABLISHED':
    '0a0000004c0001802c00018014000300fd00000000000000000000000000000114000400fd0000000000000000000000' +
    '000000021c00028005000100060000000600020003e8000006000300005000004c0002802c00018014000300fd000000' +
    '00000000000000000000000214000400fd0000000000000000000000000000011c000280050001000600000006000200' +
    '005000000600030003e800000800030000000008080008000000000008000c00dee3a48908000b000000000108000700' +
    '0000006330000480' +
    '2c000180050001000300000005000200000000000500030000000000060004000a000000060005' +
    '000a0000001c001880080001000000000008000200000000000800030000000000',
} as const;

const [udp, icmp, tcp6] = Object.values(CAPTURES).map(bytesOf) as [Uint8Array, Uint8Array, Uint8Array];

describe('an entry of the kernel', () => {
  test('of UDP in a zone', () => {
    assert.deepEqual(decodeFlow(udp), {
      family: 4,
      protocol: 17,
      original: { src: Addr.parse('10.0.0.1'), dst: Addr.parse('10.0.0.2'), sport: 1000, dport: 53 },
      reply: { src: Addr.parse('10.0.0.2'), dst: Addr.parse('10.0.0.1'), sport: 53, dport: 1000 },
      status: 8,
      timeout: 99,
      mark: 0,
      id: 0x1b277778,
      zone: 7,
    });
  });

  test('of ICMP', () => {
    const flow = decodeFlow(icmp);
    assert.deepEqual(flow?.original.icmp, { type: 8, code: 0, id: 7 });
    assert.deepEqual(flow?.reply.icmp, { type: 0, code: 0, id: 7 });
  });

  test('of TCP over IPv6, with its protocol state', () => {
    const flow = decodeFlow(tcp6);
    assert.equal(flow?.family, 6);
    assert.equal(String(flow?.original.src), 'fd00::1');
    assert.equal(flow?.protoInfo?.length, 44);
  });

  for (const [command, hex] of Object.entries(CAPTURES)) {
    test(`names itself to the kernel as the kernel does: ${command}`, () => {
      const bytes = bytesOf(hex);
      const flow = decodeFlow(bytes);
      assert.ok(flow !== undefined);
      const { attributes } = decode(flowMessage, bytes);
      const key = decode(flowMessage, encode(flowMessage, { family: 'ip', attributes: keyAttributes(flow) }));
      assert.deepEqual(key.attributes.original, attributes.original);
      assert.equal(key.attributes.id, attributes.id);
      assert.equal(key.attributes.zone, attributes.zone);
    });

    test(`cut off anywhere is malformed or shorter, never another error: ${command}`, () => {
      const bytes = bytesOf(hex);
      for (let length = 0; length < bytes.length; length++) {
        try {
          decodeFlow(bytes.subarray(0, length));
        } catch (error) {
          assert.ok(error instanceof WireError, String(error));
        }
      }
    });
  }
});

test('a message comes back as it was written', () => {
  const port = fc.integer({ min: 0, max: 0xffff });
  const addr = fc.nat().map((n) => Addr.parse('10.0.0.0').add(n % 0xffffff) ?? Addr.ZERO4);
  const tuple = fc.record(
    {
      ip: fc.record({ src4: addr, dst4: addr }, { noNullPrototype: true }),
      proto: fc.record(
        { number: fc.constantFrom(6, 17, 132), sport: port, dport: port },
        { noNullPrototype: true },
      ),
    },
    { noNullPrototype: true },
  );
  const attributes = fc.record(
    { original: tuple, reply: tuple, mark: fc.nat(), markMask: fc.nat(), zone: port, id: fc.nat() },
    { noNullPrototype: true, requiredKeys: ['original'] },
  );
  fc.assert(
    fc.property(attributes, (value) => {
      const message = { family: 'ip', version: 0, resource: 0, attributes: value } as const;
      assert.deepEqual(decode(flowMessage, encode(flowMessage, message)), message);
    }),
  );
});

test('a filter chooses the flows for which all of it holds', () => {
  const flow = decodeFlow(udp);
  assert.ok(flow !== undefined);
  const chosen: readonly FlowFilter[] = [
    {},
    { family: 4, protocol: 17, zone: 7 },
    { original: { dport: 53, dst: Addr.parse('10.0.0.2') } },
    { reply: { sport: 53 } },
    { mark: { value: 0, mask: 0xff } },
  ];
  const others: readonly FlowFilter[] = [
    { family: 6 },
    { protocol: 6 },
    { zone: 0 },
    { original: { dport: 53, sport: 1 } },
    { reply: { src: Addr.parse('10.0.0.1') } },
    { mark: { value: 1 } },
  ];
  for (const filter of chosen) assert.ok(matches(flow, filter), JSON.stringify(filter));
  for (const filter of others) assert.ok(!matches(flow, filter), JSON.stringify(filter));
  assert.ok(matches({ ...flow, mark: 0xffff_ffff }, { mark: { value: 0xffff_ffff } }));
});

test('the kernel is asked to compare only what it compares rightly', () => {
  assert.deepEqual(filterAttributes({ protocol: 17 }), {});
  assert.deepEqual(filterAttributes({ family: 4, protocol: 17 })?.filter, {
    originalFlags: 8,
    replyFlags: 0,
  });
  const dst = Addr.parse('fd00::2');
  assert.deepEqual(filterAttributes({ family: 6, protocol: 6, original: { dst, dport: 80 } })?.filter, {
    originalFlags: 8 | 32,
    replyFlags: 0,
  });
});

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}
