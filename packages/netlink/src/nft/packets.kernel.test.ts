import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr, Prefix } from '@heddle/netaddr';
import { TestNetns } from '../testing/test-netns.ts';
import { add, chain, counter, element, map, rule, set } from './changes.ts';
import { T, TABLE } from './kernel-ruleset.ts';
import { formatKey } from './key-values.ts';
import type { NftSet } from './model.ts';
import { concat, icmp, ip, meta, th } from './operands.ts';
import { accept, dnat, drop, match, type Statement, setRef, vmap } from './statements.ts';

const A = Addr.parse;
const P = Prefix.parse;

/** An output chain with these rules, and the loopback link up. */
async function filtered(
  lab: TestNetns,
  sets: readonly NftSet[],
  ...rules: readonly (readonly Statement[])[]
) {
  const base = { type: 'filter', hook: 'output', priority: 0 } as const;
  await lab.session.nft.commit([
    add(TABLE),
    ...sets.map(add),
    add(chain({ ...T, name: 'out', base })),
    ...rules.map((expressions) => add(rule({ ...T, chain: 'out', expressions }))),
  ]);
  await lab.session.links.set('lo', { up: true });
}

/** Sends one echo request to each address. */
function ping(lab: TestNetns, ...addrs: readonly string[]): void {
  for (const addr of addrs) lab.run('sh', '-c', `ping -n -c 1 -W 1 ${addr} || true`);
}

async function hits(lab: TestNetns, name: string): Promise<Readonly<Record<string, bigint>>> {
  const elements = await lab.session.nft.elements({ ...T, set: name });
  return Object.fromEntries(elements.map((each) => [formatKey(each.key), each.counter?.packets ?? 0n]));
}

test('intervals hold their first and last address, and no more', async () => {
  using lab = new TestNetns();
  const nets = set({ ...T, name: 'nets', key: 'ipv4_addr', intervals: true, counters: true });
  await filtered(
    lab,
    [nets],
    [match(icmp.type, 'eq', 'echo-request'), match(ip.daddr, 'in', setRef('nets'))],
  );
  await lab.session.nft.commit([
    add(element({ ...T, set: nets, key: P('127.0.0.4/30') })),
    add(element({ ...T, set: nets, key: A('127.0.0.9') })),
  ]);
  ping(lab, '127.0.0.3', '127.0.0.4', '127.0.0.7', '127.0.0.8', '127.0.0.9', '127.0.0.10');
  assert.deepEqual(await hits(lab, 'nets'), { '127.0.0.4/30': 2n, '127.0.0.9': 1n });
});

test('concatenations with intervals decide by both their parts', async () => {
  using lab = new TestNetns();
  const policy = map({
    ...T,
    name: 'policy',
    key: ['ipv4_addr', 'ipv4_addr'],
    data: 'verdict',
    intervals: true,
    counters: true,
  });
  const request = match(icmp.type, 'eq', 'echo-request');
  await filtered(lab, [policy], [request, vmap(concat(ip.saddr, ip.daddr), 'policy')], [request, counter()]);
  await lab.session.nft.commit([
    add(element({ ...T, set: policy, key: [P('127.0.0.0/8'), P('127.0.0.4/30')], data: accept() })),
    add(
      element({
        ...T,
        set: policy,
        key: [P('127.0.0.0/8'), { from: A('127.0.0.8'), to: A('127.0.0.10') }],
        data: drop(),
      }),
    ),
  ]);
  ping(lab, '127.0.0.3', '127.0.0.5', '127.0.0.9', '127.0.0.11');
  assert.deepEqual(await hits(lab, 'policy'), {
    '127.0.0.0/8 . 127.0.0.4/30': 1n,
    '127.0.0.0/8 . 127.0.0.8-127.0.0.10': 1n,
  });
  const [, passed] = await lab.session.nft.rules(T);
  const counted = passed?.expressions.find((each) => each.expr === 'counter');
  assert.equal(counted?.expr === 'counter' ? counted.packets : undefined, 2n);
});

for (const [family, here, there] of [
  ['ip', '127.0.0.1', '127.0.0.2'],
  ['ip6', '::1', 'fd00::2'],
] as const) {
  test(`a map leads connections to another address and port (${family})`, async () => {
    using lab = new TestNetns();
    const { nft, links } = lab.session;
    await links.set('lo', { up: true });
    if (family === 'ip6') lab.run('ip', 'addr', 'add', `${there}/128`, 'dev', 'lo', 'nodad');
    const addr = family === 'ip' ? 'ipv4_addr' : 'ipv6_addr';
    const ports = map({
      ...T,
      name: 'ports',
      key: ['inet_proto', 'inet_service'],
      data: [addr, 'inet_service'],
    });
    const base = { type: 'nat', hook: 'output', priority: -100 } as const;
    const key = concat(meta.l4proto, th.dport);
    await nft.commit([
      add(TABLE),
      add(ports),
      add(element({ ...T, set: ports, key: ['tcp', 8080], data: [A(there), 80] })),
      add(chain({ ...T, name: 'out', base })),
      add(
        rule({
          ...T,
          chain: 'out',
          expressions: [dnat({ family, fromMap: { key, map: 'ports', withPort: true } })],
        }),
      ),
    ]);
    const script = `
      const server = require('net').createServer((socket) => socket.end(socket.localAddress + ' ' + socket.localPort));
      server.listen(80, '${there}', () => {
        require('net').connect(8080, '${here}').on('data', (text) => console.log(String(text))).on('close', () => server.close());
      });`;
    assert.equal(lab.run(process.execPath, '-e', script), `${there} 80\n`);
    const [flow] = await lab.session.conntrack.list({ family: family === 'ip' ? 4 : 6, protocol: 6 });
    assert.equal(`${flow?.original.dst} ${flow?.original.dport}`, `${here} 8080`);
    assert.equal(`${flow?.reply.src} ${flow?.reply.sport}`, `${there} 80`);
  });
}
