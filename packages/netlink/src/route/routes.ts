import type { Addr, Prefix } from '@heddle/netaddr';
import { decode, encode } from '@heddle/wire';
import type { LinkRef } from '../core/change.ts';
import { afOf, type Family } from '../core/family.ts';
import { NetlinkError } from '../core/netlink-error.ts';
import { RTM } from '../core/rtm.ts';
import type { Rtnetlink } from '../link/rtnetlink.ts';
import { addRoute, appendRoute, deleteRoute, replaceRoute } from './changes.ts';
import { RTM_F, routeMessage } from './codec.ts';
import { type Route, type RouteSpec, routeOf } from './route.ts';

/** Which routes to list; all conditions must hold. */
export interface RouteFilter {
  readonly family?: Family | undefined;
  /** All tables when left out. */
  readonly table?: number | undefined;
  readonly link?: LinkRef | undefined;
  readonly dst?: Prefix | undefined;
  readonly gateway?: Addr | undefined;
  /** RTPROT_* */
  readonly protocol?: number | undefined;
}

/** What else decides a lookup. */
export interface LookupOptions {
  /** The packet's source. */
  readonly from?: Addr | undefined;
  /** The packet's mark. */
  readonly mark?: number | undefined;
  /** The link it came in by, for a packet that is forwarded. */
  readonly iif?: LinkRef | undefined;
  /** The link it must leave by. */
  readonly oif?: LinkRef | undefined;
}

/** The routing tables of a namespace: `ip route`. */
export class Routes {
  /** Changes to be made later, with `batch`. */
  readonly plan = {
    add: addRoute,
    append: appendRoute,
    replace: replaceRoute,
    delete: deleteRoute,
  } as const;
  readonly #kernel: Rtnetlink;

  constructor(kernel: Rtnetlink) {
    this.#kernel = kernel;
  }

  /** The routes that the filter asks for, IPv4 before IPv6. Entries of the route cache are left out. */
  async list(filter: RouteFilter = {}): Promise<Route[]> {
    const family = filter.family ?? filter.dst?.family;
    const link = filter.link === undefined ? undefined : await this.#kernel.indexOf(filter.link);
    const found: Route[] = [];
    for (const each of family === undefined ? ([4, 6] as const) : [family]) {
      found.push(...(await this.#listFamily(each, { ...filter, link })));
    }
    return found;
  }

  /**
   * Makes a route.
   *
   * @example
   * await session.routes.add({ dst: Prefix.DEFAULT4, gateway: Addr.parse('10.1.0.1'), link: 'eth0' });
   * @throws {NetlinkError} EEXIST when there is one to this destination with this metric
   */
  add(spec: RouteSpec): Promise<void> {
    return this.#kernel.apply(addRoute(spec));
  }

  /**
   * Makes a route although there may be others to the same destination. IPv6 makes them one route with
   * several next hops, IPv4 keeps them in a row.
   *
   * @throws {NetlinkError} EEXIST for an exact duplicate
   */
  append(spec: RouteSpec): Promise<void> {
    return this.#kernel.apply(appendRoute(spec));
  }

  /** Makes a route in place of the one with the same destination and metric, if there is one. */
  replace(spec: RouteSpec): Promise<void> {
    return this.#kernel.apply(replaceRoute(spec));
  }

  /**
   * Deletes the first route that has all that `spec` says. What it leaves out may be anything, but for the
   * table, which is the main one then.
   *
   * @throws {NetlinkError} ESRCH when there is none
   */
  delete(spec: RouteSpec | Route): Promise<void> {
    return this.#kernel.apply(deleteRoute(spec));
  }

  /**
   * The route that a packet to `dst` would take.
   *
   * @example (await session.routes.lookup(Addr.parse('192.0.2.1'))).link
   * @throws {NetlinkError} ENETUNREACH, EHOSTUNREACH, EACCES … when it would take none
   */
  async lookup(dst: Addr, options: LookupOptions = {}): Promise<Route> {
    const { from, mark, iif, oif } = options;
    const operation = `look up route to ${dst}`;
    const index = async (ref: LinkRef | undefined) =>
      ref === undefined ? undefined : this.#kernel.indexOf(ref);
    const body = encode(routeMessage, {
      family: afOf(dst.family),
      dstLength: dst.bits,
      srcLength: from?.bits,
      // IPv6 always names the table, and refuses the flag.
      flags: dst.family === 4 ? RTM_F.LOOKUP_TABLE : 0,
      attributes: { dst, src: from, mark, iif: await index(iif), oif: await index(oif) },
    });
    const [reply] = await this.#kernel.client.request({ type: RTM.GETROUTE, body, operation });
    const route = reply && routeOf(decode(routeMessage, reply.body));
    if (route === undefined) throw new NetlinkError(operation, ENETUNREACH);
    return route;
  }

  async #listFamily(family: Family, filter: RouteFilter): Promise<Route[]> {
    const { table, link } = filter;
    const body = encode(routeMessage, {
      family: afOf(family),
      protocol: filter.protocol,
      attributes: { oif: link as number | undefined, table },
    });
    const operation = `list IPv${family} routes${table === undefined ? '' : ` of table ${table}`}`;
    try {
      const replies = await this.#kernel.client.dump({ type: RTM.GETROUTE, body, operation });
      return replies
        .map(({ body }) => decode(routeMessage, body))
        .filter(({ flags }) => (flags & RTM_F.CLONED) === 0)
        .map(routeOf)
        .filter((route) => route !== undefined)
        .filter((route) => route.family === family && matches(route, filter));
    } catch (error) {
      // A table comes into being with its first route.
      if (table !== undefined && NetlinkError.is(error, 'ENOENT')) return [];
      throw error;
    }
  }
}

const ENETUNREACH = 101;

function matches(route: Route, { table, link, dst, gateway, protocol }: RouteFilter): boolean {
  const hops = route.nexthops ?? [{ gateway: route.gateway, via: route.via, link: route.link }];
  return (
    (table === undefined || route.table === table) &&
    (protocol === undefined || route.protocol === protocol) &&
    (dst === undefined || route.dst.equals(dst.masked())) &&
    (link === undefined || hops.some((hop) => hop.link === link)) &&
    (gateway === undefined || hops.some((hop) => hop.gateway?.equals(gateway) || hop.via?.equals(gateway)))
  );
}
