/** What an audit wants to know of this machine's network, read by netlink and from /proc/sys. */
import type { HostFacts, HostRoute } from '@heddle/doctor';
import type { KernelSession, Route } from '@heddle/netlink';

/** Reads the facts. Nothing is changed. */
export async function readHostFacts(host: KernelSession): Promise<HostFacts> {
  const [links, addresses, routes] = await Promise.all([
    host.links.list(),
    host.addresses.list(),
    host.routes.list(),
  ]);
  const names = new Map(links.map(({ index, name }) => [index, name]));
  const flags = await Promise.all(SYSCTLS.map((name) => readFlag(host, name)));
  const [ipv4, ipv6, allDisabled, newDisabled] = flags;
  return {
    links: links.map(({ name, mtu, kind }) => ({ name, mtu, ...(kind !== undefined && { kind }) })),
    addresses: addresses
      .filter(({ prefix }) => !prefix.addr.isLoopback && !prefix.addr.isLinkLocal)
      .map(({ prefix, link }) => ({ prefix, device: names.get(link) ?? `link ${link}` })),
    routes: routes.flatMap((route) => routeOf(route, names)),
    forwarding: { ipv4, ipv6 },
    ipv6Disabled: allDisabled === true || newDisabled === true,
  };
}

const SYSCTLS = [
  'net.ipv4.ip_forward',
  'net.ipv6.conf.all.forwarding',
  'net.ipv6.conf.all.disable_ipv6',
  'net.ipv6.conf.default.disable_ipv6',
] as const;

const MAIN_TABLE = 254;
/** RTPROT_RA */
const ADVERTISED = 9;

/** Routes of the main table that lead to other hosts; link-local ones are everywhere and say nothing. */
function routeOf(route: Route, names: ReadonlyMap<number, string>): readonly HostRoute[] {
  const { dst, table, type, gateway, protocol, nexthops } = route;
  if (table !== MAIN_TABLE || type !== 'unicast' || dst.addr.isLinkLocal || dst.addr.isMulticast) return [];
  const link = route.link ?? nexthops?.[0]?.link;
  return [
    {
      ...{ destination: dst, device: link === undefined ? '' : (names.get(link) ?? `link ${link}`) },
      ...(gateway !== undefined && { gateway }),
      ...(protocol === ADVERTISED && { isAdvertised: true }),
    },
  ];
}

async function readFlag({ sysctl }: KernelSession, name: string): Promise<boolean | undefined> {
  return (await sysctl.has(name)) ? (await sysctl.read(name)) !== '0' : undefined;
}
