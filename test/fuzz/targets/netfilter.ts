/** Messages of nf_tables and of connection tracking. */
import assert from 'node:assert/strict';
import { Addr } from '@heddle/netaddr';
import { NftError, type NftSet, nftTraceOf } from '@heddle/netlink';
import { type Codec, decode, encode, WireError } from '@heddle/wire';
import { readRule } from '../../../packages/dataplane/src/iptables-nft/read-rule.ts';
import { flowMessage, type TupleInput } from '../../../packages/netlink/src/conntrack/codec.ts';
import { decodeFlow, keyAttributes } from '../../../packages/netlink/src/conntrack/flow.ts';
import { chainMessage } from '../../../packages/netlink/src/nft/codec/chain.ts';
import { elementsMessage } from '../../../packages/netlink/src/nft/codec/element.ts';
import { NFT_MSG, nftType } from '../../../packages/netlink/src/nft/codec/nfgenmsg.ts';
import { objectMessage } from '../../../packages/netlink/src/nft/codec/object.ts';
import { ruleMessage } from '../../../packages/netlink/src/nft/codec/rule.ts';
import { setMessage } from '../../../packages/netlink/src/nft/codec/set.ts';
import { tableMessage } from '../../../packages/netlink/src/nft/codec/table.ts';
import { traceMessage } from '../../../packages/netlink/src/nft/codec/trace.ts';
import { encodeKey } from '../../../packages/netlink/src/nft/key-values.ts';
import { decodeItems, elementsOf } from '../../../packages/netlink/src/nft/read-elements.ts';
import {
  decodeChain,
  decodeCounter,
  decodeRule,
  decodeSet,
  decodeTable,
} from '../../../packages/netlink/src/nft/read-objects.ts';
import { typesOfSet } from '../../../packages/netlink/src/nft/set-types.ts';
import listed from '../../../packages/netlink/src/nft/vectors/linux-6.18.json' with { type: 'json' };
import sent from '../../../packages/netlink/src/nft/vectors/nft-1.0.6.json' with { type: 'json' };
import { joined } from '../engine/mutate-bytes.ts';
import { type Target, valueUnless } from '../engine/target.ts';

/** struct nfgenmsg */
const shape = { of: 'attributes', header: 4 } as const;

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const captured = [...listed, ...sent.flatMap(({ messages }) => messages)];
const seedsOf = (name: string) =>
  captured.filter(({ message }) => message === name).map((each) => hex(each.hex));

/** What is read can be written and then says the same; what it is used for refuses it properly. */
function target<Out>(
  name: string,
  codec: Codec<Out, never>,
  seeds: () => readonly Uint8Array[],
  use: (input: Uint8Array) => void,
): Target {
  return {
    ...{ name, shape, seeds },
    run(input) {
      const value = valueUnless([WireError], () => decode(codec, input));
      if (value === undefined) return;
      assert.deepEqual(decode(codec, encode(codec, value as never)), value);
      valueUnless([WireError, NftError], () => use(input));
    },
  };
}

const sets: readonly NftSet[] = seedsOf('NEWSET').flatMap((body) => decodeSet(body) ?? []);

/** Behind a byte that says which set they are read as. */
const elements: Target = {
  name: 'nft-elements-of-sets',
  shape: { of: 'attributes', header: 5 },
  seeds: () => seedsOf('NEWSETELEM').map((body, index) => joined([Uint8Array.of(index % sets.length), body])),
  run(input) {
    const set = sets[(input[0] ?? 0) % sets.length] as NftSet;
    const types = typesOfSet(set).key;
    const items = valueUnless([WireError], () => decodeItems([input.subarray(1)])) ?? [];
    for (const { key } of valueUnless([NftError], () => elementsOf(set, items)) ?? []) {
      if (key !== '*') valueUnless([NftError], () => encodeKey(types, key));
    }
  },
};

const tuple = (last: number): TupleInput => ({
  ip: { src4: Addr.parse(`10.1.2.${last}`), dst4: Addr.parse('10.1.2.1') },
  proto: { number: 6, sport: 40_000, dport: 80 },
});
const flow = encode(flowMessage, {
  family: 'ip',
  attributes: {
    ...{ original: tuple(3), reply: tuple(4), status: 14, timeout: 60, mark: 1, id: 7, zone: 2 },
    ...{ originalCounters: { packets: 1n, bytes: 60n }, replyCounters: { packets: 1n, bytes: 60n } },
    ...{ protoInfo: Uint8Array.of(8, 0, 1, 0, 1, 2, 3, 4), helper: { name: 'ftp' } },
  },
});
const flow6 = encode(flowMessage, {
  family: 'ip6',
  attributes: {
    original: {
      ip: { src6: Addr.parse('fd00::1'), dst6: Addr.parse('fd00::2') },
      proto: { number: 58, icmpv6Type: 128, icmpv6Code: 0, icmpv6Id: 5 },
    },
    reply: {
      ip: { src6: Addr.parse('fd00::2'), dst6: Addr.parse('fd00::1') },
      proto: { number: 58, icmpv6Type: 129, icmpv6Code: 0, icmpv6Id: 5 },
    },
  },
});
const trace = encode(traceMessage, {
  family: 'inet',
  attributes: {
    ...{ table: 't', chain: 'c', rule: 5, type: 'rule', id: 9, iif: 2, oif: 3, policy: 'accept' },
    ...{ verdict: { code: 'jump', chain: 'd' }, networkHeader: Uint8Array.of(0x45, 0, 0, 20) },
  },
});

/** See the file's comment. */
export const NETFILTER_TARGETS: readonly Target[] = [
  target('nft-table', tableMessage, () => seedsOf('NEWTABLE'), decodeTable),
  target('nft-chain', chainMessage, () => seedsOf('NEWCHAIN'), decodeChain),
  target(
    'nft-rule',
    ruleMessage,
    () => seedsOf('NEWRULE'),
    (input) => readRule(decodeRule(input)),
  ),
  target('nft-set', setMessage, () => seedsOf('NEWSET'), decodeSet),
  target('nft-object', objectMessage, () => seedsOf('NEWOBJ'), decodeCounter),
  target(
    'nft-elements',
    elementsMessage,
    () => seedsOf('NEWSETELEM'),
    (input) => decodeItems([input]),
  ),
  elements,
  target(
    'nft-trace',
    traceMessage,
    () => [trace],
    (body) => nftTraceOf({ kind: 'netfilter', action: 'new', type: nftType(NFT_MSG.TRACE), flags: 0, body }),
  ),
  target(
    'conntrack',
    flowMessage,
    () => [flow, flow6],
    (input) => {
      const read = decodeFlow(input);
      if (read !== undefined) keyAttributes(read);
    },
  ),
];
