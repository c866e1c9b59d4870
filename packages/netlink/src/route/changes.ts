/** The requests that make and delete routes. */
import { encode } from '@heddle/wire';
import { type Change, type IndexOf, type LinkRef, labelOf, withIndex } from '../core/change.ts';
import { afOf } from '../core/family.ts';
import { NLM_F } from '../core/header.ts';
import type { Message } from '../core/message.ts';
import { RTM } from '../core/rtm.ts';
import { type NexthopMessage, RT_SCOPE, RT_TABLE, RTNH_F, RTPROT, routeMessage } from './codec.ts';
import { encapAttributes } from './encap.ts';
import type { RouteSpec } from './route.ts';

/** The request that makes a route. */
export function addRoute(spec: RouteSpec): Change {
  return newRoute('add', NLM_F.CREATE | NLM_F.EXCL, spec);
}

/** The request that makes a route, beside others to the same destination. */
export function appendRoute(spec: RouteSpec): Change {
  return newRoute('append', NLM_F.CREATE, spec);
}

/** The request that makes a route instead of the one to the same destination. */
export function replaceRoute(spec: RouteSpec): Change {
  return newRoute('replace', NLM_F.CREATE | NLM_F.REPLACE, spec);
}

/** The request that deletes the first route that is like `spec`. */
export function deleteRoute(spec: RouteSpec): Change {
  const { scope = 'any', protocol = RTPROT.UNSPEC, type = 'unspec' } = spec;
  return (indexOf) =>
    withLinks(spec, indexOf, (links) => ({
      type: RTM.DELROUTE,
      operation: operationOf('delete', spec),
      body: bodyOf({ ...spec, scope, protocol, type }, links),
    }));
}

function newRoute(verb: string, flags: number, spec: RouteSpec): Change {
  const { scope = RT_SCOPE.UNIVERSE, protocol = RTPROT.BOOT, type = 'unicast' } = spec;
  return (indexOf) =>
    withLinks(spec, indexOf, (links) => ({
      type: RTM.NEWROUTE,
      flags,
      operation: operationOf(verb, spec),
      body: bodyOf({ ...spec, scope, protocol, type }, links),
    }));
}

/** What of a route has to be looked up. */
interface Links {
  readonly oif?: number;
  readonly multipath?: readonly NexthopMessage[] | undefined;
}

/** The request for a route, at once where nothing has to be looked up. */
function withLinks(
  { link, nexthops }: RouteSpec,
  indexOf: IndexOf,
  make: (links: Links) => Message,
): Message | Promise<Message> {
  if (nexthops === undefined) {
    return link === undefined ? make({}) : withIndex(indexOf, link, (oif) => make({ oif }));
  }
  return lookUp(nexthops, link, indexOf).then(make);
}

async function lookUp(
  nexthops: NonNullable<RouteSpec['nexthops']>,
  link: LinkRef | undefined,
  indexOf: IndexOf,
): Promise<Links> {
  const multipath = await Promise.all(nexthops.map((hop) => nexthop(hop, indexOf)));
  return { multipath, ...(link !== undefined && { oif: await indexOf(link) }) };
}

function bodyOf(
  spec: RouteSpec & Required<Pick<RouteSpec, 'scope' | 'protocol' | 'type'>>,
  { oif, multipath }: Links,
): Uint8Array {
  const { src, table = RT_TABLE.MAIN, scope } = spec;
  const dst = spec.dst.masked();
  return encode(routeMessage, {
    family: afOf(dst.family),
    dstLength: dst.bits,
    srcLength: src?.bits,
    // The header's field has eight bits; RTA_TABLE is for larger numbers.
    table: table < 256 ? table : RT_TABLE.UNSPEC,
    protocol: spec.protocol,
    scope: scope === 'any' || scope === undefined ? RT_SCOPE.NOWHERE : scope,
    type: spec.type,
    flags: spec.onlink ? RTNH_F.ONLINK : 0,
    attributes: {
      dst: dst.addr,
      src: src?.addr,
      oif,
      gateway: spec.gateway,
      via: spec.via,
      priority: spec.metric,
      prefsrc: spec.source,
      metrics: spec.metrics,
      ...(spec.encap && encapAttributes(spec.encap)),
      multipath,
      table: table < 256 ? undefined : table,
    },
  });
}

async function nexthop(
  { gateway, via, link, weight = 1, onlink }: NonNullable<RouteSpec['nexthops']>[number],
  indexOf: IndexOf,
): Promise<NexthopMessage> {
  return {
    index: link === undefined ? 0 : await indexOf(link),
    hops: weight - 1,
    flags: onlink ? RTNH_F.ONLINK : 0,
    attributes: { ...(gateway && { gateway }), ...(via && { via }) },
  };
}

function operationOf(verb: string, { dst, gateway, via, link, table }: RouteSpec): string {
  const gw = gateway ?? via;
  const parts = [
    `${verb} route ${dst}`,
    gw === undefined ? '' : ` via ${gw}`,
    link === undefined ? '' : ` dev ${labelOf(link)}`,
    table === undefined || table === RT_TABLE.MAIN ? '' : ` table ${table}`,
  ];
  return parts.join('');
}
