/** Rules against what iptables-nft 1.8.9 gave to the kernel, and what its iptables-save made of that. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Expression, type ListedRule, sameExpressions } from '@heddle/netlink';
import fc from 'fast-check';
import { splitWords } from '../iptables/rule-text.ts';
import { readRule } from './read-rule.ts';
import vectors from './vectors/rules.json' with { type: 'json' };
import { writeRule } from './write-rule.ts';

const captures = vectors.map(({ command, saved, expressions }) => {
  const [, chain = '', ...words] = splitWords(saved);
  const family = command.startsWith('ip6') ? 6 : 4;
  const listed: ListedRule = {
    kind: 'rule',
    family: family === 6 ? 'ip6' : 'ip',
    ...{ table: 'filter', chain, handle: 7, expressions: revive(expressions) as readonly Expression[] },
  };
  return { command, family, words, listed } as const;
});

describe('what iptables wrote', () => {
  for (const { command, words, listed } of captures) {
    test(`is read in the words of iptables-save: ${command}`, () => {
      assert.deepEqual(readRule(listed), words);
    });
  }
});

describe('what is written', () => {
  for (const { command, family, words, listed } of captures) {
    test(`is read back in the same words: ${command}`, () => {
      const written = writeRule(words, family);
      assert.ok(written !== undefined);
      const { expressions } = written;
      assert.deepEqual(readRule({ ...listed, expressions: expressions as readonly Expression[] }), words);
    });
    // Of these, releases before 1.8.8 would not understand how 1.8.9 writes them.
    if (/--dport |--mark|\/(24|64|8) /.test(command) && !command.includes('sctp')) continue;
    test(`is what iptables writes: ${command}`, () => {
      const { expressions = [] } = writeRule(words, family) ?? {};
      assert.ok(sameExpressions(expressions as readonly Expression[], listed.expressions));
    });
  }

  test('tells the kernel of the protocol, which some extensions insist on', () => {
    const rule = ['-p', 'sctp', '-m', 'multiport', '--dports', '1,2', '-j', 'DROP'];
    assert.deepEqual(writeRule(rule, 4)?.compat, { protocol: 132, inverted: false });
    assert.deepEqual(writeRule(['!', '-p', 'udp', '-j', 'DROP'], 4)?.compat, {
      protocol: 17,
      inverted: true,
    });
  });
});

describe('what cannot be written here is left to iptables', () => {
  for (const rule of [
    '-m owner --uid-owner 0 -j ACCEPT',
    '-s example.org -j ACCEPT',
    '-s 10.0.0.1,10.0.0.2 -j ACCEPT',
    '-d fd00::1 -j ACCEPT',
    '-p tcp --dport 80 -j ACCEPT',
    '-p tcp -m tcp --dport 80:90 -j ACCEPT',
    '-m conntrack --ctstate FANCY -j ACCEPT',
    '-m conntrack --ctproto 6 -j ACCEPT',
    '-i averyveryverylongname -j ACCEPT',
    '-p tcp -m multiport --dports 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 -j ACCEPT',
    '-j DNAT --to-destination 10.0.0.1-10.0.0.9:80',
    '-j MASQUERADE --random',
    '-f -j ACCEPT',
    '-s 10.0.0.1',
  ]) {
    test(rule, () => assert.equal(writeRule(splitWords(rule), 4), undefined));
  }
});

describe('what has no words', () => {
  const [first] = captures;
  const rule = (...expressions: readonly Expression[]): ListedRule => ({
    ...(first?.listed as ListedRule),
    expressions,
  });
  const verdict: Expression = { expr: 'immediate', dreg: 0, data: { verdict: { code: 'accept' } } };
  const address: Expression = { expr: 'payload', dreg: 1, base: 'network', offset: 12, length: 4 };
  const bytes = (...value: number[]) => ({ value: Uint8Array.from(value) });
  for (const [what, listed] of [
    ['a look-up in a set', rule({ expr: 'lookup', sreg: 1, set: 's' }, verdict)],
    [
      'another revision of a match',
      rule({ expr: 'match', extension: 'comment', revision: 9, info: new Uint8Array(256) }),
    ],
    [
      'a match that is cut short',
      rule({ expr: 'match', extension: 'comment', revision: 0, info: new Uint8Array(3) }),
    ],
    [
      'an unknown match',
      rule({ expr: 'match', extension: 'owner', revision: 1, info: new Uint8Array(16) }, verdict),
    ],
    [
      'a mask with gaps',
      rule(
        address,
        { expr: 'bitwise', sreg: 1, dreg: 1, length: 4, mask: bytes(255, 0, 255, 0), xor: bytes(0, 0, 0, 0) },
        { expr: 'cmp', sreg: 1, op: 'eq', data: bytes(10, 0, 0, 0) },
        verdict,
      ),
    ],
    ['an order', rule(address, { expr: 'cmp', sreg: 1, op: 'lt', data: bytes(10, 0, 0, 0) }, verdict)],
  ] as const) {
    test(what, () => assert.equal(readRule(listed), undefined));
  }
});

test('any address, link, comment and state goes there and back', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9.]{0,14}$/);
  const address = fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 32 }));
  const words = fc.record({
    not: fc.boolean(),
    address,
    link: name,
    comment: fc
      .string({ maxLength: 200 })
      .filter((text) => text !== '' && !/[\0\n\r]/.test(text) && Buffer.byteLength(text) < 256),
    states: fc.subarray(['INVALID', 'NEW', 'RELATED', 'ESTABLISHED', 'UNTRACKED'], { minLength: 1 }),
  });
  fc.assert(
    fc.property(words, ({ not, address: [addr, bits], link, comment, states }) => {
      const rule = [
        ...(not ? ['!'] : []),
        ...['-s', masked(addr, bits), '-o', link],
        ...['-m', 'comment', '--comment', comment, '-m', 'conntrack', '--ctstate', states.join(',')],
        ...['-j', 'DROP'],
      ];
      const { expressions = [] } = writeRule(rule, 4) ?? {};
      const listed = {
        ...(captures[0]?.listed as ListedRule),
        expressions: expressions as readonly Expression[],
      };
      assert.deepEqual(readRule(listed), rule);
    }),
  );
});

function masked(addr: string, bits: number): string {
  const number = addr.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const network = Math.floor(number / 2 ** (32 - bits)) * 2 ** (32 - bits);
  const parts = [24, 16, 8, 0].map((shift) => Math.floor(network / 2 ** shift) % 256);
  return `${parts.join('.')}/${bits}`;
}

function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== 'object' || value === null) return value;
  if ('hex' in value) return Uint8Array.from(Buffer.from(String(value.hex), 'hex'));
  if ('integer' in value) return BigInt(String(value.integer));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, revive(each)]));
}
