/** Messages that a real kernel sent, for tests of the codecs. */
import { type Codec, decode } from '@heddle/wire';
import { addressOf } from '../address/address.ts';
import { addressMessage } from '../address/codec.ts';
import { bridgeMessage } from '../bridge/codec.ts';
import { fdbEntryOf } from '../bridge/fdb.ts';
import { vlansOf } from '../bridge/vlan.ts';
import { linkMessage } from '../link/codec.ts';
import { linkOf } from '../link/link.ts';
import { neighbourMessage } from '../neighbour/codec.ts';
import { neighbourOf } from '../neighbour/neighbour.ts';
import { routeMessage } from '../route/codec.ts';
import { routeOf } from '../route/route.ts';
import { ruleMessage } from '../rule/codec.ts';
import { ruleOf } from '../rule/rule.ts';
import { classOf } from '../tc/class.ts';
import { classMessage, filterMessage, qdiscMessage } from '../tc/codec.ts';
import { filterOf } from '../tc/filter.ts';
import { qdiscOf } from '../tc/qdisc.ts';

/** A message, the command that led to it, and what it is read as, in JSON. */
export interface Vector {
  readonly kind: VectorKind;
  readonly command: string;
  readonly hex: string;
  readonly value: unknown;
}

/** The files that hold them, by the program that writes each. */
export const vectorFiles = {
  'capture-vectors.ts': new URL('../../vectors/rtnetlink.json', import.meta.url),
  'capture-link-kinds.ts': new URL('../../vectors/link-kinds.json', import.meta.url),
} as const;

/** How the messages of a kind are read, and what becomes of them. */
export const VECTOR_KINDS = {
  link: reader(linkMessage, linkOf),
  address: reader(addressMessage, addressOf),
  route: reader(routeMessage, routeOf),
  rule: reader(ruleMessage, ruleOf),
  neighbour: reader(neighbourMessage, neighbourOf),
  fdb: reader(neighbourMessage, fdbEntryOf),
  vlans: reader(bridgeMessage, vlansOf),
  port: reader(bridgeMessage, ({ index, attributes }) => ({ index, ...attributes.port, unknown: undefined })),
  qdisc: reader(qdiscMessage, qdiscOf),
  class: reader(classMessage, classOf),
  filter: reader(filterMessage, filterOf),
} as const;
/** What a message is about. */
export type VectorKind = keyof typeof VECTOR_KINDS;

/** What a message is read as, in JSON. */
export function readVector(kind: VectorKind, hex: string): unknown {
  const value = VECTOR_KINDS[kind].read(Uint8Array.from(Buffer.from(hex, 'hex'))) ?? null;
  return JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each)));
}

function reader<Out, In>(codec: Codec<Out, In>, use: (message: Out) => unknown) {
  return {
    codec: codec as unknown as Codec<unknown, unknown>,
    read: (bytes: Uint8Array) => use(decode(codec, bytes)),
  };
}
