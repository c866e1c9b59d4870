/** IPCTNL_MSG_CT_GET, IPCTNL_MSG_CT_DELETE — net/netfilter/nf_conntrack_netlink.c */
import { decode, encode, type Value } from '@heddle/wire';
import { ctnetlinkType, flowMessage, IPCTNL_MSG } from '../../conntrack/codec.ts';
import { decodeFlow, type Flow } from '../../conntrack/flow.ts';
import type { Reply } from '../../core/message.ts';
import type { Handler, Request } from '../core/handler.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, refuseUnknown } from '../core/refusal.ts';

/** What connection tracking does, by IPCTNL_MSG_CT_*. Flows come from the test alone. */
export function flowHandlers(isDump: boolean): ReadonlyMap<number, Handler> {
  return isDump
    ? new Map([[IPCTNL_MSG.GET, (namespace: Namespace, request: Request) => list(namespace, request)]])
    : new Map([[IPCTNL_MSG.DELETE, (namespace: Namespace, request: Request) => remove(namespace, request)]]);
}

type Message = Value<typeof flowMessage>;

/** The listing applies what a request may be narrowed by: family, mark, zone. */
function list({ flows }: Namespace, { body }: Request): Reply[] {
  const { family, attributes: a } = read(body);
  return flows
    .filter((flow) => family === 'unspec' || family === familyName(flow))
    .filter((flow) => a.mark === undefined || (flow.mark & (a.markMask ?? -1)) === (a.mark | 0))
    .map(describe);
}

function remove(namespace: Namespace, { body }: Request): undefined {
  const { family, attributes: a } = read(body);
  if (a.original === undefined) refuse('EOPNOTSUPP', 'the fake kernel has no flushing of flows');
  const wanted = decodeFlow(
    encode(flowMessage, { family, attributes: { original: a.original, reply: a.original } }),
  );
  const found = namespace.flows.find(
    (flow) =>
      wanted !== undefined &&
      flow.protocol === wanted.protocol &&
      flow.zone === (a.zone ?? 0) &&
      (a.id === undefined || a.id === flow.id) &&
      tupleText(flow.original) === tupleText(wanted.original),
  );
  if (found === undefined) refuse('ENOENT');
  namespace.flows = namespace.flows.filter((flow) => flow !== found);
  namespace.notifier.publish('conntrackDestroy', {
    ...describe(found),
    type: ctnetlinkType(IPCTNL_MSG.DELETE),
  });
  return undefined;
}

/** The message that describes a flow. */
export function describe(flow: Flow): Reply {
  const { status, timeout, mark, id, zone, counters } = flow;
  const body = encode(flowMessage, {
    family: familyName(flow),
    attributes: {
      original: tupleAttributes(flow, flow.original),
      reply: tupleAttributes(flow, flow.reply),
      ...{ status, timeout, mark, id, zone },
      ...(flow.protoInfo && { protoInfo: flow.protoInfo }),
      ...(flow.helper !== undefined && { helper: { name: flow.helper } }),
      ...(counters && { originalCounters: counters.original, replyCounters: counters.reply }),
    },
  });
  return { type: ctnetlinkType(IPCTNL_MSG.NEW), flags: 0, body };
}

function tupleAttributes({ protocol }: Flow, { src, dst, sport, dport, icmp, zone }: Flow['original']) {
  return {
    ip: src.family === 4 ? { src4: src, dst4: dst } : { src6: src, dst6: dst },
    proto: {
      ...{ number: protocol, sport, dport },
      ...(icmp &&
        (src.family === 4
          ? { icmpType: icmp.type, icmpCode: icmp.code, icmpId: icmp.id }
          : { icmpv6Type: icmp.type, icmpv6Code: icmp.code, icmpv6Id: icmp.id })),
    },
    zone,
  };
}

function tupleText({ src, dst, sport, dport, icmp }: Flow['original']): string {
  return [src, dst, sport, dport, icmp?.type, icmp?.code, icmp?.id].join(' ');
}

function familyName({ family }: Flow): 'ip' | 'ip6' {
  return family === 4 ? 'ip' : 'ip6';
}

function read(body: Uint8Array): Message {
  const message = decode(flowMessage, body);
  refuseUnknown('CTA', message);
  return message;
}
