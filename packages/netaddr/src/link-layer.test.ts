import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, linkLocalFromMac, Mac, multicastMac, solicitedNode } from './index.ts';

test('the solicited-node address takes the last 24 bits', () => {
  // The first pair is RFC 4291's own example.
  const cases: readonly [string, string][] = [
    ['4037::1:800:200e:8c6c', 'ff02::1:ff0e:8c6c'],
    ['2001:db8::5', 'ff02::1:ff00:5'],
    ['fe80::ffff:ffff:ffff:ffff', 'ff02::1:ffff:ffff'],
  ];
  for (const [addr, group] of cases) assert.equal(`${solicitedNode(Addr.parse(addr))}`, group);
  assert.throws(() => solicitedNode(Addr.parse('10.0.0.1')), {
    code: 'ADDR_INVALID',
    message: 'no solicited-node address for 10.0.0.1 (IPv6 only)',
  });
});

test('the link-local address turns the universal/local bit of the MAC', () => {
  // The first pair is RFC 2464's own example (§4).
  const cases: readonly [string, string][] = [
    ['34:56:78:9a:bc:de', 'fe80::3656:78ff:fe9a:bcde'],
    ['0a:58:0a:f4:00:05', 'fe80::858:aff:fef4:5'],
    ['02:00:00:00:00:00', 'fe80::ff:fe00:0'],
  ];
  for (const [mac, addr] of cases) assert.equal(`${linkLocalFromMac(Mac.parse(mac))}`, addr);
});

test('multicast addresses map to Ethernet groups', () => {
  const cases: readonly [string, string][] = [
    ['224.0.0.1', '01:00:5e:00:00:01'],
    ['239.255.255.250', '01:00:5e:7f:ff:fa'],
    ['ff02::1', '33:33:00:00:00:01'],
    ['ff02::1:ff0e:8c6c', '33:33:ff:0e:8c:6c'],
  ];
  for (const [addr, mac] of cases) assert.equal(`${multicastMac(Addr.parse(addr))}`, mac);
  for (const addr of ['10.0.0.1', '2001:db8::1', '255.255.255.255']) {
    assert.throws(() => multicastMac(Addr.parse(addr)), {
      code: 'ADDR_INVALID',
      message: `no multicast MAC for ${addr} (not a multicast address)`,
    });
  }
});
