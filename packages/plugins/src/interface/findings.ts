/**
 * What CHECK compares: an attachment as its result says against the kernel. Every function returns what is
 * different, in words; nothing means that all is well. Additions of plugins further down the chain are no
 * difference.
 */
import { CNI_CODE, CniError, type Interface, type Result } from '@heddle/cni';
import { type Addr, Mac, Prefix } from '@heddle/netaddr';
import type { KernelSession, Link, Route } from '@heddle/netlink';
import { namedGateway } from './plan-routes.ts';

/** Differences between what should be and what is, in words. */
export type Findings = readonly string[];

/**
 * Ends a CHECK.
 *
 * @throws {CniError} code 150 with all findings, when there are any
 */
export function reportDrift(findings: Findings): void {
  if (findings.length > 0) throw new CniError(CNI_CODE.DRIFT, findings.join('; '));
}

/** The result that a CHECK compares with. @throws {CniError} code 7 when the runtime gave none. */
export function requirePrevResult(prevResult: Result | undefined): Result {
  if (prevResult !== undefined) return prevResult;
  throw new CniError(CNI_CODE.INVALID_CONFIG, 'Required prevResult missing');
}

/**
 * The entry of the container's interface, and where it stands in the result.
 *
 * @throws {CniError} code 7 when the result knows no such interface in this namespace
 */
export function containerInterface(
  { interfaces = [] }: Result,
  ifName: string,
  netnsPath: string,
): { readonly index: number; readonly entry: Interface } {
  const index = interfaces.findIndex(({ name, sandbox }) => name === ifName && sandbox === netnsPath);
  const entry = interfaces[index];
  if (entry !== undefined) return { index, entry };
  const elsewhere = interfaces.find(({ name, sandbox }) => name === ifName && sandbox);
  throw new CniError(
    CNI_CODE.INVALID_CONFIG,
    `sandbox mismatch: prevResult has no interface ${ifName} in ${netnsPath}`,
    {
      ...(elsewhere !== undefined && { cniDetails: `it has one in ${elsewhere.sandbox}` }),
    },
  );
}

/** A result without the addresses of other interfaces, which plugins before and behind have added. */
export function onlyOf(result: Result, index: number): Result {
  const { ips } = result;
  return ips === undefined
    ? result
    : { ...result, ips: ips.filter((ip) => (ip.interface ?? index) === index) };
}

/** What a link should be. */
export interface ExpectedLink {
  /** Not compared when left out. */
  readonly kind?: string | undefined;
  readonly up: boolean;
  /** As the result has it; not compared when left out. */
  readonly mac?: string | undefined;
}

/** Compares a link. */
export function checkLink(name: string, link: Link | undefined, expected: ExpectedLink): Findings {
  if (link === undefined) return [`link ${name} is missing`];
  const { kind, up, mac } = expected;
  const wanted = mac === undefined || mac === '' ? undefined : Mac.tryParse(mac);
  return [
    ...(kind === undefined || link.kind === kind
      ? []
      : [`link ${name} should be a ${kind}, but is a ${link.kind ?? 'link without a kind'}`]),
    ...(link.up === up ? [] : [`link ${name} should be ${up ? 'up' : 'down'}`]),
    ...(wanted === undefined || link.mac?.equals(wanted)
      ? []
      : [`link ${name} should have the hardware address ${wanted}, but has ${link.mac ?? 'none'}`]),
  ];
}

/**
 * Compares addresses and routes. Routes may have moved to another table, as plugins for several interfaces do,
 * unless the result names one.
 *
 * @param index where the result lists the container's interface
 */
export async function checkNetworkLayer(
  container: KernelSession,
  link: Link,
  result: Result,
  index: number,
): Promise<Findings> {
  const addresses = await container.addresses.list({ link: link.index });
  const all = (await container.routes.list()).filter(({ type }) => type === 'unicast');
  const routes = all.filter((route) => leavesBy(route, link));
  const wanted = (result.ips ?? [])
    .filter((ip) => ip.interface === undefined || ip.interface === index)
    .map(({ address }) => Prefix.parse(address));
  const findings: string[] = [];
  for (const prefix of wanted) {
    if (!addresses.some((address) => address.prefix.equals(prefix))) {
      findings.push(`address ${prefix} is missing on ${link.name}`);
    } else if (!prefix.isSingle && !routes.some(({ dst }) => dst.equals(prefix.masked()))) {
      findings.push(`the route to ${prefix.masked()} is missing on ${link.name}`);
    }
  }
  for (const { dst, gw, table, priority } of result.routes ?? []) {
    const expected = {
      dst: Prefix.parse(dst).masked(),
      gateway: namedGateway(gw),
      table,
      metric: priority,
    };
    const { gateway } = expected;
    // By a gateway that no network of this interface has, it is another one's.
    const isForeign = gateway !== undefined && !wanted.some((prefix) => prefix.contains(gateway));
    if (!(isForeign ? all : routes).some((route) => isSuch(route, expected))) {
      findings.push(`the route to ${dst}${gw ? ` via ${gw}` : ''} is missing on ${link.name}`);
    }
  }
  return findings;
}

function leavesBy({ link, nexthops }: Route, { index }: Link): boolean {
  return nexthops === undefined ? link === index : nexthops.some((hop) => hop.link === index);
}

interface ExpectedRoute {
  readonly dst: Prefix;
  readonly gateway: Addr | undefined;
  readonly table: number | undefined;
  readonly metric: number | undefined;
}

function isSuch(route: Route, { dst, gateway, table, metric }: ExpectedRoute): boolean {
  if (!route.dst.equals(dst)) return false;
  if (table !== undefined && route.table !== table) return false;
  if (metric !== undefined && metric > 0 && route.metric !== metric) return false;
  // Plugins further down may have replaced the default gateway.
  if (gateway === undefined || dst.bits === 0) return true;
  const hops = route.nexthops ?? [route];
  return hops.some((hop) => (hop.gateway ?? hop.via)?.equals(gateway));
}
