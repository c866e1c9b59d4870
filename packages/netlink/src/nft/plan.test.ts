import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import {
  add,
  chain,
  counter,
  create,
  delete_,
  destroy,
  element,
  flush,
  insert,
  map,
  type NftChange,
  replace,
  rule,
  set,
  table,
} from './changes.ts';
import { describeChange } from './describe.ts';
import { planChanges } from './plan.ts';
import { typesOfSet } from './set-types.ts';
import { accept, drop, jump } from './statements.ts';
import captures from './vectors/nft-1.0.6.json' with { type: 'json' };

const A = Addr.parse;
const P = Prefix.parse;
const T = { family: 'inet', table: 't' } as const;

const MACS = set({ ...T, name: 'macs', key: 'ether_addr', size: 64 });
const PORTS = map({
  ...T,
  name: 'm',
  key: ['ipv4_addr', 'inet_proto', 'inet_service'],
  data: ['ipv4_addr', 'inet_service'],
});
const VERDICTS = map({ ...T, name: 'v', key: 'ipv4_addr', data: 'verdict', intervals: true });
const POLICY = map({ ...T, name: 'x', key: ['ipv4_addr', 'ipv4_addr'], data: 'verdict', intervals: true });
const MARKS = map({ ...T, name: 'marks', key: 'ipv4_addr', data: 'mark' });
const COUNTED = map({ ...T, name: 'counted', key: 'ipv4_addr', data: 'counter' });
const NODES = set({ ...T, name: 'nodes', key: 'ipv6_addr', intervals: true, comment: 'nodes' });
const SETS = [MACS, PORTS, VERDICTS, POLICY, MARKS, COUNTED, NODES];

/** Each command of nft beside the change that sends the same message. */
const CHANGES: Readonly<Record<string, NftChange>> = {
  'add table inet t { comment "a table" ; }': add(table({ family: 'inet', name: 't', comment: 'a table' })),
  'add table ip v4': add(table({ family: 'ip', name: 'v4' })),
  'add chain inet t c1 { comment "chain comment" ; }': add(
    chain({ ...T, name: 'c1', comment: 'chain comment' }),
  ),
  'add chain inet t base { type nat hook prerouting priority -100 ; policy accept ; }': add(
    chain({
      ...T,
      name: 'base',
      base: { type: 'nat', hook: 'prerouting', priority: -100, policy: 'accept' },
    }),
  ),
  'add counter inet t cc { comment "cnt" ; }': add(counter({ ...T, name: 'cc', comment: 'cnt' })),
  'add map inet t v { type ipv4_addr : verdict ; flags interval ; }': add(VERDICTS),
  'add map inet t marks { type ipv4_addr : mark ; }': add(MARKS),
  'add set inet t nodes { type ipv6_addr ; flags interval ; comment "nodes" ; }': add(NODES),
  'add set inet t s { type inet_service ; timeout 1m ; }': add(
    set({ ...T, name: 's', key: 'inet_service', timeout: 60_000 }),
  ),
  'add set inet t macs { type ether_addr ; size 64 ; }': add(MACS),
  'add set inet t ifs { type ifname ; }': add(set({ ...T, name: 'ifs', key: 'ifname' })),
  'add set inet t protos { type inet_proto ; }': add(set({ ...T, name: 'protos', key: 'inet_proto' })),
  'add element inet t m { 10.0.0.1 . tcp . 8080 comment "pod" : 10.1.0.2 . 80 }': add(
    element({
      ...T,
      set: PORTS,
      key: [A('10.0.0.1'), 'tcp', 8080],
      data: [A('10.1.0.2'), 80],
      comment: 'pod',
    }),
  ),
  'add element inet t x { 10.0.0.0/8 . 10.1.0.0-10.1.0.9 : jump c1 }': add(
    element({
      ...T,
      set: POLICY,
      key: [P('10.0.0.0/8'), { from: A('10.1.0.0'), to: A('10.1.0.9') }],
      data: jump('c1'),
    }),
  ),
  'add element inet t macs { 00:11:22:33:44:55 }': add(
    element({ ...T, set: MACS, key: '00:11:22:33:44:55' }),
  ),
  'add element inet t marks { 1.2.3.4 : 0x400 }': add(
    element({ ...T, set: MARKS, key: A('1.2.3.4'), data: 0x400 }),
  ),
  'add element inet t counted { 1.2.3.4 : "cc" }': add(
    element({ ...T, set: COUNTED, key: A('1.2.3.4'), data: 'cc' }),
  ),
  'delete element inet t m { 10.0.0.1 . tcp . 8080 }': delete_(
    element({ ...T, set: PORTS, key: [A('10.0.0.1'), 'tcp', 8080] }),
  ),
  'flush chain inet t c1': flush(chain({ ...T, name: 'c1' })),
  'delete set inet t macs': delete_(MACS),
  'delete chain inet t base': delete_(chain({ ...T, name: 'base' })),
  'delete table bridge br': delete_(table({ family: 'bridge', name: 'br' })),
};

describe('a change sends what nft 1.0.6 sends', () => {
  for (const [command, change] of Object.entries(CHANGES)) {
    test(command, () => {
      const capture = captures.find((each) => each.command === `nft ${command}`)?.messages[0];
      assert.ok(capture !== undefined);
      const [message, ...others] = plan(change);
      assert.deepEqual(others, []);
      const body = message?.body ?? new Uint8Array();
      assert.equal(
        withoutId(capture.message, body),
        withoutId(capture.message, Buffer.from(capture.hex, 'hex')),
      );
      // nft counts NLM_F_REQUEST in, which the client adds here.
      assert.equal((message?.flags ?? 0) | 1, capture.flags);
    });
  }
});

test('rules are appended, put in front or in the place of others', () => {
  const named = rule({ ...T, chain: 'c', expressions: [accept()] });
  const flags = (change: NftChange) => plan(change).map((message) => message.flags);
  assert.deepEqual(flags(add(named)), [0xc00]);
  assert.deepEqual(flags(create(named)), [0xe00]);
  assert.deepEqual(flags(insert(named)), [0x400]);
  assert.deepEqual(flags(replace({ ...named, handle: 7 })), [0x100]);
});

test('neighbouring elements of one set share messages of at most 64 KiB', () => {
  const one = (n: number) =>
    add(element({ ...T, set: PORTS, key: [A('10.0.0.1'), 'tcp', n], data: [A('10.0.0.2'), n] }));
  const many = Array.from({ length: 5000 }, (_, n) => one(n));
  const messages = plan(
    ...many,
    add(element({ ...T, set: MACS, key: '00:00:00:00:00:01' })),
    one(5000),
    delete_(one(1).object),
  );
  assert.deepEqual(messages.flatMap(({ changes }) => changes.length).slice(-3), [1, 1, 1]);
  assert.equal(
    messages.reduce((sum, { changes }) => sum + changes.length, 0),
    5003,
  );
  for (const { body } of messages) assert.ok(body.length <= 65_536, `${body.length} bytes`);
  assert.ok(messages.length < 25, `${messages.length} messages`);
  assert.equal(new Set(messages.map(({ operation }) => operation)).size, messages.length);
});

test('an offset in a message of many elements leads to the one that lies there', () => {
  const at = (n: number) => element({ ...T, set: NODES, key: P(`fd00:${n}::/32`) });
  const [message] = plan(...[1, 2, 3].map((n) => delete_(at(n))));
  assert.ok(message?.changeAt !== undefined);
  const found = Array.from(
    { length: message.body.length },
    (_, offset) => message.changeAt?.(offset)?.object,
  );
  const order = found.filter((each, index) => each !== found[index - 1]);
  assert.deepEqual(order, [at(1), at(2), at(3)]);
  assert.equal(message.changeAt(message.body.length), undefined);
});

test('a change that cannot be is refused in words', () => {
  const element_ = (spec: Partial<Parameters<typeof element>[0]>) =>
    add(element({ ...T, set: PORTS, key: 1, ...spec }));
  const key = [A('10.0.0.1'), 'tcp', 1] as const;
  const refused: readonly (readonly [NftChange, RegExp])[] = [
    [
      delete_(rule({ ...T, chain: 'c', expressions: [], comment: 'x' })),
      /^delete rule of chain inet t c \(x\): no handle$/,
    ],
    [
      replace({ ...rule({ ...T, chain: 'c', expressions: [] }), handle: undefined as unknown as number }),
      /no handle/,
    ],
    [flush(element({ ...T, set: PORTS, key }) as never), /no such change/],
    [insert(table({ family: 'ip', name: 'x' }) as never), /insert table ip x: there is no such change/],
    [element_({ key }), /element 10\.0\.0\.1 \. tcp \. 1 of a map needs data/],
    [element_({ key, data: accept() }), /a verdict in a map of values/],
    [element_({ key, data: [P('10.0.0.0/8'), 1] }), /10\.0\.0\.0\/8 \. 1 is no single value/],
    [element_({ key: [P('10.0.0.0/8'), 'tcp', 1], data: [A('10.0.0.1'), 1] }), /in a set without intervals/],
    [element_({ set: VERDICTS, key: A('1.2.3.4'), data: 1 }), /needs a verdict/],
    [element_({ set: COUNTED, key: A('1.2.3.4'), data: 5 }), /needs the name of a counter/],
    [element_({ set: MACS, key: '00:00:00:00:00:01', data: 1 }), /of a set has no data/],
    [
      add(table({ family: 'ip', name: 'x', comment: 'x'.repeat(254) })),
      /a comment of 254 bytes \(at most 253\)/,
    ],
    [
      add(chain({ ...T, family: 'netdev', name: 'c', base: { type: 'filter', hook: 'input', priority: 0 } })),
      /netdev has no hook input/,
    ],
  ];
  for (const [change, message] of refused) assert.throws(() => plan(change), { name: 'NftError', message });
});

test('changes read as sentences', () => {
  const texts: readonly (readonly [NftChange, string])[] = [
    [add(table({ family: 'ip', name: 'x' })), 'add table ip x'],
    [destroy(PORTS), 'delete map inet t m if it exists'],
    [flush(NODES), 'flush set inet t nodes'],
    [
      add(rule({ ...T, chain: 'c', expressions: [drop()], comment: 'no' })),
      'add rule to chain inet t c (no)',
    ],
    [
      delete_(rule({ ...T, chain: 'c', expressions: [], handle: 5 })),
      'delete rule handle 5 of chain inet t c',
    ],
    [
      add(element({ ...T, set: PORTS, key: [A('10.0.0.1'), 'tcp', 80] })),
      'add element 10.0.0.1 . tcp . 80 to map inet t m',
    ],
    [delete_(element({ ...T, set: 'macs', key: '*' })), 'delete element * from set inet t macs'],
  ];
  for (const [change, text] of texts) assert.equal(describeChange(change), text);
});

function plan(...changes: readonly NftChange[]) {
  return planChanges(changes, ({ set: given }) => {
    const found = SETS.find(({ name }) => name === (typeof given === 'string' ? given : given.name));
    assert.ok(found !== undefined);
    return typesOfSet(found);
  });
}

/** Without the number that a set has in its batch: nft goes on counting, and names it with elements too. */
function withoutId(message: string, bytes: Uint8Array): string {
  const id = message.endsWith('ELEM')
    ? /08000400[0-9a-f]{8}/
    : message === 'NEWSET'
      ? /08000a00[0-9a-f]{8}/
      : '';
  return Buffer.from(bytes).toString('hex').replace(id, '');
}
