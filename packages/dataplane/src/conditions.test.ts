import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigError } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';
import { ct, ip, ip6, match, meta, tcp } from '@heddle/netlink';
import { parseConditions } from './conditions.ts';

const read = (text: string, family: 4 | 6 = 4) => parseConditions(text.split(' '), family);

describe('conditions', () => {
  for (const [text, wanted] of [
    ['ip daddr != 192.0.2.9', [match(ip.daddr, 'ne', Addr.parse('192.0.2.9'))]],
    ['ip saddr 10.1.2.3/8', [match(ip.saddr, 'eq', Prefix.parse('10.0.0.0/8'))]],
    [
      'ip saddr 10.0.0.1-10.0.0.9',
      [match(ip.saddr, 'eq', { from: Addr.parse('10.0.0.1'), to: Addr.parse('10.0.0.9') })],
    ],
    ['iifname eth0', [match(meta.iifname, 'eq', 'eth0')]],
    ['meta iifname != "eth0"', [match(meta.iifname, 'ne', 'eth0')]],
    ['tcp dport { 80, 8000-8999 }', [match(tcp.dport, 'in', [80, { from: 8000, to: 8999 }])]],
    ['tcp dport != {80,443}', [match(tcp.dport, 'notin', [80, 443])]],
    ['tcp sport >= 1024', [match(tcp.sport, 'ge', 1024)]],
    ['meta mark 0x2000', [match(meta.mark, 'eq', 0x2000)]],
    ['ct state new', [match(ct.state, 'in', ['new'])]],
    ['ct state established,related', [match(ct.state, 'in', ['established', 'related'])]],
    ['meta l4proto tcp', [match(meta.l4proto, 'eq', 'tcp')]],
    [
      'ip saddr 10.0.0.0/8 iifname eth0',
      [match(ip.saddr, 'eq', Prefix.parse('10.0.0.0/8')), match(meta.iifname, 'eq', 'eth0')],
    ],
    ['', []],
  ] as const) {
    test(text, () => {
      assert.deepEqual(read(text), wanted);
    });
  }

  test('words may hold several', () => {
    assert.deepEqual(parseConditions(['ip daddr', '!= 192.0.2.9'], 4), read('ip daddr != 192.0.2.9'));
  });

  test('IPv6 has its own', () => {
    assert.deepEqual(read('ip6 saddr 2001:db8::/32', 6), [
      match(ip6.saddr, 'eq', Prefix.parse('2001:db8::/32')),
    ]);
  });

  for (const [text, message] of [
    ['ip6 saddr ::1', /^conditionsV4: "ip6" is not understood: this is about IPv6/],
    ['ip saddr 2001:db8::1', /"2001:db8::1" is not understood: expected an address/],
    ['ip saddr', /the end is not understood: expected an address/],
    ['ip saddr < 10.0.0.1', /"<" is not understood: ip saddr has no order/],
    ['tcp flags syn', /"tcp" is not understood: expected one of ip saddr, /],
    ['tcp dport 65536', /"65536" is not understood: expected a port/],
    ['tcp dport { 80, 443', /the end is not understood: expected } or a comma/],
    ['tcp dport < { 80, 443 }', /expected one value/],
    ['iifname eth*', /"eth\*" is not understood: expected the name of a link/],
    ['ct state confirmed', /"confirmed" is not understood: expected a state/],
    ['ip saddr 10.0.0.1 accept', /"accept" is not understood/],
    ['ip saddr 10.0.0.1; drop', /"10\.0\.0\.1;" is not understood/],
  ] as const) {
    test(`${text} is refused`, () => {
      assert.throws(
        () => read(text),
        (error) => error instanceof ConfigError && message.test(error.message),
      );
    });
  }
});
