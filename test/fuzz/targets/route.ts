/** Messages of rtnetlink, and the frames that netlink messages come in. */
import assert from 'node:assert/strict';
import { decode, encode, WireError } from '@heddle/wire';
import { verdictOf } from '../../../packages/netlink/src/core/acknowledgement.ts';
import { encodeMessage, readMessages } from '../../../packages/netlink/src/core/message.ts';
import { VECTOR_KINDS, type Vector, type VectorKind } from '../../../packages/netlink/src/lab/vectors.ts';
import { routeEventOf } from '../../../packages/netlink/src/session/events.ts';
import linkKinds from '../../../packages/netlink/vectors/link-kinds.json' with { type: 'json' };
import captured from '../../../packages/netlink/vectors/rtnetlink.json' with { type: 'json' };
import { type Target, valueUnless } from '../engine/target.ts';

const vectors = [...captured, ...linkKinds] as readonly Vector[];
const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const seedsOf = (kind: VectorKind) =>
  vectors.filter((vector) => vector.kind === kind).map((vector) => hex(vector.hex));

/** Sizes of struct ifinfomsg and its like, RTM_NEW* of each. */
const MESSAGES: Readonly<Record<VectorKind, { readonly header: number; readonly type: number }>> = {
  link: { header: 16, type: 16 },
  address: { header: 8, type: 20 },
  route: { header: 12, type: 24 },
  rule: { header: 12, type: 32 },
  neighbour: { header: 12, type: 28 },
  fdb: { header: 12, type: 28 },
  vlans: { header: 16, type: 16 },
  port: { header: 16, type: 16 },
  qdisc: { header: 20, type: 36 },
  class: { header: 20, type: 40 },
  filter: { header: 20, type: 44 },
};

const messages = (Object.keys(MESSAGES) as VectorKind[]).map((kind): Target => {
  const { codec, read } = VECTOR_KINDS[kind];
  const { header, type } = MESSAGES[kind];
  return {
    name: `route-${kind}`,
    shape: { of: 'attributes', header },
    seeds: () => seedsOf(kind),
    run(input) {
      const value = valueUnless([WireError], () => decode(codec, input));
      if (value === undefined) return;
      // What is read can be written, and then says the same.
      assert.deepEqual(decode(codec, encode(codec, value)), value);
      valueUnless([WireError], () => read(input));
      valueUnless([WireError], () => routeEventOf({ type, flags: 0, body: input }));
    },
  };
});

const frames: Target = {
  name: 'netlink-frames',
  shape: { of: 'bytes' },
  seeds: () => [
    encodeMessage({ type: 2, flags: 0, sequence: 1, body: hex('00000000'.padEnd(40, '0')) }),
    // NLMSG_ERROR of EINVAL with NLM_F_ACK_TLVS and NLM_F_CAPPED: NLMSGERR_ATTR_MSG "bad", NLMSGERR_ATTR_OFFS 16.
    encodeMessage({
      ...{ type: 2, flags: 0x300, sequence: 1 },
      body: hex(`eaffffff${'20000000120005000100000000000000'}0800010062616400${'0800020010000000'}`),
    }),
    encodeMessage({ type: 3, flags: 2, sequence: 1, body: hex('00000000') }),
    encodeMessage({ type: 16, flags: 2, sequence: 1, body: seedsOf('link')[0] ?? new Uint8Array(0) }),
  ],
  run(input) {
    const found = valueUnless([WireError], () => readMessages(input)) ?? [];
    for (const message of found) valueUnless([WireError], () => verdictOf(message));
  },
};

/** See the file's comment. */
export const ROUTE_TARGETS: readonly Target[] = [frames, ...messages];
