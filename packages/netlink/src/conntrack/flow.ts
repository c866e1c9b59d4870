/** Flows as values, and the filters that choose among them. */
import type { Addr } from '@heddle/netaddr';
import { decode, type Input } from '@heddle/wire';
import { FILTER_FLAG, flowMessage, type TupleInput, type TupleValue } from './codec.ts';

/** One direction of a flow. */
export interface FlowTuple {
  readonly src: Addr;
  readonly dst: Addr;
  /** Of TCP, UDP, SCTP, DCCP; the call IDs of GRE. */
  readonly sport?: number;
  readonly dport?: number;
  /** Of ICMP and ICMPv6. */
  readonly icmp?: { readonly type: number; readonly code: number; readonly id: number };
  /** A zone of this direction only. */
  readonly zone?: number;
}

/** A tracked connection. */
export interface Flow {
  readonly family: 4 | 6;
  /** IPPROTO_* */
  readonly protocol: number;
  /** As the connection began. */
  readonly original: FlowTuple;
  /** As answers come back: differs from the reverse of `original` where addresses are translated. */
  readonly reply: FlowTuple;
  /** Bits of {@link IPS}. */
  readonly status: number;
  /** Seconds until the flow is forgotten. */
  readonly timeout: number;
  readonly mark: number;
  readonly id: number;
  readonly zone: number;
  /** Where net.netfilter.nf_conntrack_acct is set. */
  readonly counters?: {
    readonly original: { readonly packets: bigint; readonly bytes: bigint };
    readonly reply: { readonly packets: bigint; readonly bytes: bigint };
  };
  /** The protocol's own state, such as CTA_PROTOINFO_TCP, as bytes. */
  readonly protoInfo?: Uint8Array;
  /** The helper that looks into the flow, such as `ftp`. */
  readonly helper?: string;
}

/** IPS_*: what a flow's `status` says — linux/netfilter/nf_conntrack_common.h */
export const IPS = {
  EXPECTED: 1,
  SEEN_REPLY: 2,
  ASSURED: 4,
  CONFIRMED: 8,
  SRC_NAT: 16,
  DST_NAT: 32,
  DYING: 512,
  FIXED_TIMEOUT: 1024,
} as const;

/** Which flows to list: those for which all that is given holds. */
export interface FlowFilter {
  readonly family?: 4 | 6;
  /** IPPROTO_* */
  readonly protocol?: number;
  readonly zone?: number;
  readonly mark?: { readonly value: number; readonly mask?: number };
  readonly original?: Partial<Pick<FlowTuple, 'src' | 'dst' | 'sport' | 'dport'>>;
  readonly reply?: Partial<Pick<FlowTuple, 'src' | 'dst' | 'sport' | 'dport'>>;
}

/** A flow from a message; `undefined` for one that is neither IPv4 nor IPv6. */
export function decodeFlow(body: Uint8Array): Flow | undefined {
  const { family, attributes } = decode(flowMessage, body);
  const { status = 0, timeout = 0, mark = 0, id = 0, zone = 0, protoInfo, helper } = attributes;
  const original = decodeTuple(attributes.original);
  const reply = decodeTuple(attributes.reply);
  if (original === undefined || reply === undefined) return undefined;
  const counts = (value: typeof attributes.originalCounters) => ({
    packets: value?.packets ?? 0n,
    bytes: value?.bytes ?? 0n,
  });
  return {
    family: family === 'ip' ? 4 : 6,
    protocol: attributes.original?.proto?.number ?? 0,
    original,
    reply,
    status,
    timeout,
    mark,
    id,
    zone,
    ...(attributes.originalCounters === undefined
      ? {}
      : {
          counters: {
            original: counts(attributes.originalCounters),
            reply: counts(attributes.replyCounters),
          },
        }),
    ...(protoInfo === undefined ? {} : { protoInfo }),
    ...(helper?.name === undefined ? {} : { helper: helper.name }),
  };
}

/** The attributes that name a flow to the kernel. */
export function keyAttributes(flow: Flow): Input<typeof flowMessage>['attributes'] {
  return {
    original: encodeTuple(flow.original, flow.protocol),
    id: flow.id,
    ...(flow.zone === 0 ? {} : { zone: flow.zone }),
  };
}

/** What of a filter the kernel can be asked to apply; older kernels ignore the newer parts. */
export function filterAttributes(filter: FlowFilter): Input<typeof flowMessage>['attributes'] {
  const { family, protocol, zone, mark, original = {}, reply = {} } = filter;
  const marks = mark === undefined ? {} : { mark: mark.value, markMask: mark.mask ?? 0xffff_ffff };
  // Tuples can only be compared within one family.
  const flags = {
    originalFlags: flagsOf(family, original, protocol),
    replyFlags: flagsOf(family, reply, undefined),
  };
  if (family === undefined || (flags.originalFlags === 0 && flags.replyFlags === 0)) return marks;
  return {
    ...marks,
    ...(zone === undefined ? {} : { zone }),
    ...(flags.originalFlags === 0 ? {} : { original: encodeTuple(original, protocol) }),
    ...(flags.replyFlags === 0 ? {} : { reply: encodeTuple(reply, undefined) }),
    filter: flags,
  };
}

/** Whether a flow is one of those that the filter chooses. */
export function matches(flow: Flow, { family, protocol, zone, mark, original, reply }: FlowFilter): boolean {
  return (
    (family === undefined || flow.family === family) &&
    (protocol === undefined || flow.protocol === protocol) &&
    (zone === undefined || flow.zone === zone) &&
    (mark === undefined || (flow.mark & (mark.mask ?? -1)) === (mark.value | 0)) &&
    matchesTuple(flow.original, original) &&
    matchesTuple(flow.reply, reply)
  );
}

function matchesTuple(tuple: FlowTuple, wanted: FlowFilter['original'] = {}): boolean {
  return (
    (wanted.src === undefined || tuple.src.equals(wanted.src)) &&
    (wanted.dst === undefined || tuple.dst.equals(wanted.dst)) &&
    (wanted.sport === undefined || tuple.sport === wanted.sport) &&
    (wanted.dport === undefined || tuple.dport === wanted.dport)
  );
}

function decodeTuple(tuple: TupleValue | undefined): FlowTuple | undefined {
  const { ip = {}, proto = {}, zone } = tuple ?? {};
  const src = ip.src4 ?? ip.src6;
  const dst = ip.dst4 ?? ip.dst6;
  if (src === undefined || dst === undefined) return undefined;
  const type = proto.icmpType ?? proto.icmpv6Type;
  return {
    src,
    dst,
    ...(proto.sport === undefined ? {} : { sport: proto.sport }),
    ...(proto.dport === undefined ? {} : { dport: proto.dport }),
    ...(type === undefined
      ? {}
      : {
          icmp: {
            type,
            code: proto.icmpCode ?? proto.icmpv6Code ?? 0,
            id: proto.icmpId ?? proto.icmpv6Id ?? 0,
          },
        }),
    ...(zone === undefined ? {} : { zone }),
  };
}

function encodeTuple(tuple: Partial<FlowTuple>, protocol: number | undefined): TupleInput {
  const { src, dst, sport, dport, icmp, zone } = tuple;
  const proto = {
    ...(protocol === undefined ? {} : { number: protocol }),
    ...(sport === undefined ? {} : { sport }),
    ...(dport === undefined ? {} : { dport }),
    ...(icmp === undefined ? {} : icmpAttributes(protocol === IPPROTO_ICMPV6, icmp)),
  };
  return {
    ip: {
      ...(src === undefined ? {} : src.family === 4 ? { src4: src } : { src6: src }),
      ...(dst === undefined ? {} : dst.family === 4 ? { dst4: dst } : { dst6: dst }),
    },
    proto,
    zone,
  };
}

function icmpAttributes(v6: boolean, { type, code, id }: NonNullable<FlowTuple['icmp']>) {
  return v6
    ? { icmpv6Type: type, icmpv6Code: code, icmpv6Id: id }
    : { icmpType: type, icmpCode: code, icmpId: id };
}

const IPPROTO_ICMPV6 = 58;

function flagsOf(
  family: FlowFilter['family'],
  tuple: NonNullable<FlowFilter['original']>,
  protocol: number | undefined,
): number {
  // The kernel's comparison of IPv6 addresses is inverted: it would leave out just the flows in question.
  const addresses = family === 4;
  // It reads ports only together with their protocol.
  const ports = protocol !== undefined;
  return (
    (addresses && tuple.src !== undefined ? FILTER_FLAG.IP_SRC : 0) |
    (addresses && tuple.dst !== undefined ? FILTER_FLAG.IP_DST : 0) |
    (protocol === undefined ? 0 : FILTER_FLAG.PROTO_NUM) |
    (ports && tuple.sport !== undefined ? FILTER_FLAG.PROTO_SRC_PORT : 0) |
    (ports && tuple.dport !== undefined ? FILTER_FLAG.PROTO_DST_PORT : 0)
  );
}
