/** What CHECK compares at the host's end of a routed pair. */
import type { Result } from '@heddle/cni';
import type { Prefix } from '@heddle/netaddr';
import type { KernelSession, Link, RouteSpec } from '@heddle/netlink';
import { checkLink, type Findings } from './findings.ts';

/** What the host's end should have. */
export interface ExpectedHostEnd {
  /** The addresses by which the host is the container's gateway. */
  readonly addresses: readonly Prefix[];
  /** The host's routes to the container. */
  readonly routes: (link: number) => readonly RouteSpec[];
}

/** Compares the host's end of the pair that a container's link is of. */
export async function hostEndFindings(
  host: KernelSession,
  inside: Link,
  { interfaces = [] }: Result,
  { addresses, routes }: ExpectedHostEnd,
): Promise<Findings> {
  const end = await hostEndOf(host, inside);
  if (end === undefined) return [`the host's end of ${inside.name} is missing`];
  const entry = interfaces.find(({ name, sandbox }) => name === end.name && !sandbox);
  const present = await host.addresses.list({ link: end.index });
  return [
    ...(entry === undefined
      ? [`prevResult does not have ${end.name}, the host's end of ${inside.name}`]
      : []),
    ...checkLink(end.name, end, { kind: 'veth', up: true, mac: entry?.mac }),
    ...addresses
      .filter((prefix) => !present.some((address) => address.prefix.equals(prefix)))
      .map((prefix) => `the gateway's address ${prefix} is missing on ${end.name}`),
    ...(await missingRoutes(host, end, routes(end.index))),
  ];
}

/** The host's end of the pair that a container's link is of; `undefined` when it is not in the host's namespace. */
export async function hostEndOf(host: KernelSession, inside: Link): Promise<Link | undefined> {
  const end = inside.parent === undefined ? undefined : await host.links.find(inside.parent);
  return end?.kind === 'veth' && end.parent === inside.index ? end : undefined;
}

/** Routes that a link does not have, in whatever table. */
export async function missingRoutes(
  session: KernelSession,
  link: Link,
  wanted: readonly RouteSpec[],
): Promise<Findings> {
  const present = (await session.routes.list({ link: link.index })).filter(({ type }) => type === 'unicast');
  return wanted
    .filter(({ dst }) => !present.some((route) => route.dst.equals(dst)))
    .map(({ dst }) => `the route to ${dst} is missing on ${link.name}`);
}
