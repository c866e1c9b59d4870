import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '@heddle/wire';
import type { Expression } from './codec/expressions.ts';
import { ruleMessage } from './codec/rule.ts';
import { sameExpressions } from './same-expressions.ts';
import listings from './vectors/linux-6.18.json' with { type: 'json' };
import captures from './vectors/nft-1.0.6.json' with { type: 'json' };

const sent = captures
  .flatMap(({ command, messages }) =>
    messages.filter(({ message }) => message === 'NEWRULE').map(({ hex }) => ({ command, rule: rule(hex) })),
  )
  .map(({ command, rule: { attributes } }) => ({ command, ...attributes }));
const listed = listings.filter(({ message }) => message === 'NEWRULE').map(({ hex }) => rule(hex).attributes);

test('what the kernel lists is what nft sent, and nothing else', () => {
  assert.equal(listed.length, sent.length);
  const twins = new Map<string, number>();
  for (const each of listed) {
    const same = sent.filter(
      ({ table, chain, expressions }) =>
        table === each.table &&
        chain === each.chain &&
        sameExpressions(expressions ?? [], each.expressions ?? []),
    );
    assert.ok(same.length > 0, JSON.stringify(each.expressions, plain));
    for (const { command } of same) twins.set(command, (twins.get(command) ?? 0) + 1);
  }
  const several = [...twins].filter(([, count]) => count !== 1).map(([command]) => command);
  assert.deepEqual(several, []);
});

test('one other bit makes another rule', () => {
  const value = (last: number) => ({ value: Uint8Array.of(10, 0, 0, last) });
  const cmp = (last: number): Expression => ({ expr: 'cmp', sreg: 1, op: 'eq', data: value(last) });
  assert.ok(sameExpressions([cmp(1)], [cmp(1)]));
  assert.ok(!sameExpressions([cmp(1)], [cmp(2)]));
  assert.ok(!sameExpressions([cmp(1)], [cmp(1), cmp(1)]));
  assert.ok(!sameExpressions([], [cmp(1)]));
});

test('counts, derived flags and the names of sets without name do not matter', () => {
  const pairs: readonly (readonly [Expression, Expression, boolean])[] = [
    [{ expr: 'counter' }, { expr: 'counter', bytes: 5n, packets: 1n }, true],
    [{ expr: 'masq' }, { expr: 'masq', flags: 0 }, true],
    [{ expr: 'masq' }, { expr: 'masq', flags: 16 }, false],
    [
      { expr: 'nat', type: 'dnat', family: 'ip', addrMin: 1, portMin: 2, flags: 2 },
      { expr: 'nat', type: 'dnat', family: 'ip', addrMin: 1, addrMax: 1, portMin: 2, portMax: 2, flags: 3 },
      true,
    ],
    [
      { expr: 'nat', type: 'dnat', family: 'ip', addrMin: 1 },
      { expr: 'nat', type: 'dnat', family: 'ip', addrMin: 1, addrMax: 2 },
      false,
    ],
    [
      { expr: 'lookup', sreg: 1, set: '__set%d', setId: 3 },
      { expr: 'lookup', sreg: 1, set: '__set7', flags: 0 },
      true,
    ],
    [{ expr: 'lookup', sreg: 1, set: 'a' }, { expr: 'lookup', sreg: 1, set: 'b', flags: 0 }, false],
    [{ expr: 'lookup', sreg: 1, set: 'a' }, { expr: 'lookup', sreg: 1, set: 'a', flags: 1 }, false],
    [{ expr: 'log' }, { expr: 'log', level: 4 }, true],
    [{ expr: 'log', group: 1 }, { expr: 'log', group: 1, snaplen: 0, queueThreshold: 0 }, true],
    [{ expr: 'log', group: 1 }, { expr: 'log' }, false],
  ];
  for (const [a, b, same] of pairs) {
    assert.equal(sameExpressions([a], [b]), same, JSON.stringify([a, b], plain));
    assert.equal(sameExpressions([b], [a]), same);
  }
});

function rule(hex: string) {
  return decode(ruleMessage, Uint8Array.from(Buffer.from(hex, 'hex')));
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
