/** Notifications of changes: multicast groups, and what their messages say — linux/rtnetlink.h, linux/netfilter/nfnetlink.h */
import { decode, decodeDeclared } from '@heddle/wire';
import { type Address, addressOf } from '../address/address.ts';
import { addressMessage } from '../address/codec.ts';
import { bridgeMessage } from '../bridge/codec.ts';
import { type FdbEntry, fdbEntryOf } from '../bridge/fdb.ts';
import { type BridgePort, bridgePort } from '../bridge/port-codec.ts';
import { AF } from '../core/family.ts';
import { NETLINK } from '../core/header.ts';
import type { Reply } from '../core/message.ts';
import { RTM } from '../core/rtm.ts';
import { linkMessage } from '../link/codec.ts';
import { type Link, linkOf } from '../link/link.ts';
import { neighbourMessage } from '../neighbour/codec.ts';
import { type Neighbour, neighbourOf } from '../neighbour/neighbour.ts';
import { routeMessage } from '../route/codec.ts';
import { type Route, routeOf } from '../route/route.ts';
import { ruleMessage } from '../rule/codec.ts';
import { type Rule, ruleOf } from '../rule/rule.ts';
import { classOf, type TrafficClass } from '../tc/class.ts';
import { classMessage, filterMessage, qdiscMessage } from '../tc/codec.ts';
import { filterOf, type TrafficFilter } from '../tc/filter.ts';
import { type Qdisc, qdiscOf } from '../tc/qdisc.ts';

/** What may be subscribed to: the netlink family and the number of the group, RTNLGRP_* or NFNLGRP_*. */
export const GROUPS = {
  link: { protocol: NETLINK.ROUTE, group: 1 },
  neighbour: { protocol: NETLINK.ROUTE, group: 3 },
  tc: { protocol: NETLINK.ROUTE, group: 4 },
  address4: { protocol: NETLINK.ROUTE, group: 5 },
  route4: { protocol: NETLINK.ROUTE, group: 7 },
  rule4: { protocol: NETLINK.ROUTE, group: 8 },
  address6: { protocol: NETLINK.ROUTE, group: 9 },
  route6: { protocol: NETLINK.ROUTE, group: 11 },
  rule6: { protocol: NETLINK.ROUTE, group: 19 },
  conntrackNew: { protocol: NETLINK.NETFILTER, group: 1 },
  conntrackUpdate: { protocol: NETLINK.NETFILTER, group: 2 },
  conntrackDestroy: { protocol: NETLINK.NETFILTER, group: 3 },
  nft: { protocol: NETLINK.NETFILTER, group: 7 },
  nftTrace: { protocol: NETLINK.NETFILTER, group: 9 },
} as const;

/** What may be subscribed to. `neighbour` includes forwarding entries, `link` the ports of bridges. */
export type EventGroup = keyof typeof GROUPS;

/** Something was made or changed (`new`), or deleted. */
export type KernelEvent = { readonly action: 'new' | 'delete' } & (
  | { readonly kind: 'link'; readonly link: Link }
  | {
      /** How a bridge treats a port; `delete`: the link left the bridge. */
      readonly kind: 'port';
      /** The link's index. */
      readonly link: number;
      readonly master?: number;
      readonly port?: BridgePort;
    }
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'route'; readonly route: Route }
  | { readonly kind: 'rule'; readonly rule: Rule }
  | { readonly kind: 'neighbour'; readonly neighbour: Neighbour }
  | { readonly kind: 'fdb'; readonly entry: FdbEntry }
  | { readonly kind: 'qdisc'; readonly qdisc: Qdisc }
  | { readonly kind: 'class'; readonly class: TrafficClass }
  | { readonly kind: 'filter'; readonly filter: TrafficFilter }
  | {
      /** A message of nf_tables or conntrack, as it came. `action` says nothing here. */
      readonly kind: 'netfilter';
      /** The subsystem in the upper byte, the message in the lower. */
      readonly type: number;
      readonly flags: number;
      readonly body: Uint8Array;
    }
);

/** The event that a message of NETLINK_NETFILTER is. */
export function netfilterEventOf({ type, flags, body }: Reply): KernelEvent {
  return { kind: 'netfilter', action: 'new', type, flags, body: body.slice() };
}

/** The event that a message of NETLINK_ROUTE tells of; `undefined` for what is of no interest here. */
export function routeEventOf({ type, body }: Reply): KernelEvent | undefined {
  switch (type) {
    case RTM.NEWLINK:
      return linkEventOf('new', body);
    case RTM.DELLINK:
      return linkEventOf('delete', body);
    case RTM.NEWNEIGH:
      return neighbourEventOf('new', body);
    case RTM.DELNEIGH:
      return neighbourEventOf('delete', body);
    case RTM.NEWADDR:
    case RTM.DELADDR: {
      const address = addressOf(decodeDeclared(addressMessage, body));
      return address && { kind: 'address', action: type === RTM.NEWADDR ? 'new' : 'delete', address };
    }
    case RTM.NEWROUTE:
    case RTM.DELROUTE: {
      const route = routeOf(decode(routeMessage, body));
      return route && { kind: 'route', action: type === RTM.NEWROUTE ? 'new' : 'delete', route };
    }
    case RTM.NEWRULE:
    case RTM.DELRULE: {
      const rule = ruleOf(decode(ruleMessage, body));
      return rule && { kind: 'rule', action: type === RTM.NEWRULE ? 'new' : 'delete', rule };
    }
    case RTM.NEWQDISC:
    case RTM.DELQDISC: {
      const qdisc = qdiscOf(decode(qdiscMessage, body));
      return { kind: 'qdisc', action: type === RTM.NEWQDISC ? 'new' : 'delete', qdisc };
    }
    case RTM.NEWTCLASS:
    case RTM.DELTCLASS:
      return {
        kind: 'class',
        action: type === RTM.NEWTCLASS ? 'new' : 'delete',
        class: classOf(decode(classMessage, body)),
      };
    case RTM.NEWTFILTER:
    case RTM.DELTFILTER: {
      const filter = filterOf(decode(filterMessage, body));
      return filter && { kind: 'filter', action: type === RTM.NEWTFILTER ? 'new' : 'delete', filter };
    }
    default:
      return undefined;
  }
}

function linkEventOf(action: KernelEvent['action'], body: Uint8Array): KernelEvent | undefined {
  // Bridges tell of their ports with the same messages: a port that is deleted is no link that is.
  if (body[0] === AF.UNSPEC) return { kind: 'link', action, link: linkOf(decodeDeclared(linkMessage, body)) };
  if (body[0] !== AF.BRIDGE) return undefined;
  const { index, attributes } = decode(bridgeMessage, body);
  return {
    kind: 'port',
    action,
    link: index,
    ...(attributes.master !== undefined && { master: attributes.master }),
    ...(attributes.port && { port: bridgePort(attributes.port) }),
  };
}

function neighbourEventOf(action: KernelEvent['action'], body: Uint8Array): KernelEvent | undefined {
  const message = decode(neighbourMessage, body);
  if (message.family === AF.BRIDGE) {
    const entry = fdbEntryOf(message);
    return entry && { kind: 'fdb', action, entry };
  }
  const neighbour = neighbourOf(message);
  return neighbour && { kind: 'neighbour', action, neighbour };
}
