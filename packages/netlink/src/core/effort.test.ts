import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Effort, effortOf } from './effort.ts';
import { NETLINK, NLM_F } from './header.ts';
import { encodeMessage } from './message.ts';
import { RTM } from './rtm.ts';

const { ROUTE, NETFILTER } = NETLINK;

for (const [what, effort, protocol, type, flags] of [
  ['a link that is made', 'long', ROUTE, RTM.NEWLINK, NLM_F.CREATE],
  ['a discipline that goes', 'long', ROUTE, RTM.DELQDISC, 0],
  ['a link that is looked at', 'queued', ROUTE, RTM.GETLINK, 0],
  ['all links', 'long', ROUTE, RTM.GETLINK, NLM_F.DUMP],
  ['addresses', 'queued', ROUTE, RTM.GETADDR, NLM_F.DUMP],
  ['a transaction of nf_tables, whose number is that of a link', 'brief', NETFILTER, 16, 0],
  ['rules of nf_tables', 'brief', NETFILTER, 0x0a07, NLM_F.DUMP],
  ['connections', 'long', NETFILTER, 0x0101, NLM_F.DUMP],
] as const satisfies readonly (readonly [string, Effort, number, number, number])[]) {
  test(`${what}: ${effort}`, () => {
    const request = encodeMessage({ type, flags, sequence: 1, body: new Uint8Array(4) });
    assert.equal(effortOf(protocol, request), effort);
  });
}
