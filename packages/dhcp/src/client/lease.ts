/** What a server's answer comes to: an address, for how long, and what belongs to it — RFC 2131 §4.4.1, §4.4.5. */
import { type Addr, type Mac, Prefix } from '@heddle/netaddr';
import { DhcpError } from '../dhcp-error.ts';
import type { MessageOptions } from '../message/message.ts';
import type { LeasedRoute } from '../message/values.ts';
import type { Received } from './ports.ts';

/** A lease. Moments are milliseconds of the client's clock; `Infinity` when they never come. */
export interface Lease {
  /** The address, with the length of its network's prefix. */
  readonly prefix: Prefix;
  readonly server: Addr;
  /** The neighbour that the server is reached through. */
  readonly serverMac?: Mac;
  /** When its server is asked for more time. */
  readonly renewAt: number;
  /** When any server is asked. */
  readonly rebindAt: number;
  /** When the address must not be used any more. */
  readonly expiresAt: number;
  readonly routers: readonly Addr[];
  readonly nameServers: readonly Addr[];
  readonly domain?: string;
  readonly search: readonly string[];
  /** Routes by class of the destination. */
  readonly staticRoutes: readonly LeasedRoute[];
  /** Routes with prefixes. Where there are any, routers and static routes do not count (RFC 3442). */
  readonly classlessRoutes?: readonly LeasedRoute[];
}

/** What is known besides the answer. */
export interface LeaseContext {
  /** When the request was sent: that is when the time begins to run. */
  readonly since: number;
  /** The server that was asked, for an answer that does not name its own. */
  readonly server: Addr;
  /** The lease that the answer is about; an extension may leave out what has not changed. */
  readonly previous?: Lease;
}

/**
 * The lease in an acknowledgement.
 *
 * @throws {DhcpError} DHCP_BAD_ANSWER when it has no usable subnet mask
 */
export function leaseOf({ message, mac }: Received, { since, server, previous }: LeaseContext): Lease {
  const { options, yiaddr } = message;
  const { routers, nameServers, domainName, domainSearch, staticRoutes, classlessRoutes } = options;
  const domain = domainName ?? previous?.domain;
  const classless = classlessRoutes ?? previous?.classlessRoutes;
  const prefix = options.subnetMask === undefined ? previous?.prefix : prefixOf(yiaddr, options.subnetMask);
  if (prefix === undefined) {
    throw new DhcpError('DHCP_BAD_ANSWER', `the lease of ${yiaddr} from ${server} has no subnet mask`);
  }
  const serverMac = mac ?? previous?.serverMac;
  return {
    prefix,
    server: options.serverId ?? server,
    ...(serverMac !== undefined && { serverMac }),
    ...momentsOf(options, since),
    routers: (routers ?? previous?.routers ?? []).filter((router) => !router.isUnspecified),
    nameServers: (nameServers ?? previous?.nameServers ?? []).filter((each) => !each.isUnspecified),
    ...(domain !== undefined && { domain }),
    search: domainSearch ?? previous?.search ?? [],
    staticRoutes: staticRoutes ?? previous?.staticRoutes ?? [],
    ...(classless !== undefined && { classlessRoutes: classless }),
  };
}

/** For servers that do not say; the reference's too. */
const DEFAULT_TIME = 3600;
/** RFC 2131 §3.3 */
const FOREVER = 0xffff_ffff;
/** However short a server makes it, it is asked no more often. */
const SHORTEST = 2;

function momentsOf(
  { leaseTime = DEFAULT_TIME, renewalTime, rebindingTime }: MessageOptions,
  since: number,
): Pick<Lease, 'renewAt' | 'rebindAt' | 'expiresAt'> {
  if (leaseTime === FOREVER) return { renewAt: Infinity, rebindAt: Infinity, expiresAt: Infinity };
  const time = Math.max(SHORTEST, leaseTime);
  const within = (value: number | undefined, low: number, high: number) =>
    value !== undefined && value >= low && value < high ? value : undefined;
  const rebind = within(rebindingTime, 1, time) ?? time * 0.875;
  const renew = within(renewalTime, 1, rebind) ?? Math.min(time / 2, rebind * 0.8);
  return {
    renewAt: since + renew * 1000,
    rebindAt: since + rebind * 1000,
    expiresAt: since + time * 1000,
  };
}

function prefixOf(address: Addr, mask: Addr): Prefix {
  const bits = mask.commonBits(mask.filled(0));
  if (mask.equals(Prefix.of(mask, bits).mask())) return Prefix.of(address, bits);
  throw new DhcpError(
    'DHCP_BAD_ANSWER',
    `the lease of ${address} has the subnet mask ${mask}, which is none`,
  );
}
