/** Links, addresses, routes, rules, neighbours and forwarding entries as text, a line each, close to what `ip` prints. */
import { Mac, Prefix } from '@heddle/netaddr';
import { IFA_F } from '../../address/codec.ts';
import { familyOf } from '../../core/family.ts';
import type { NeighbourMessage } from '../../neighbour/codec.ts';
import { NTF, NUD } from '../../neighbour/codec.ts';
import { RT_TABLE, RTPROT } from '../../route/codec.ts';
import type { AddressRecord } from '../address/record.ts';
import { FRESH_PORT } from '../bridge/record.ts';
import type { Namespace } from '../core/namespace.ts';
import { linkAt } from '../link/find.ts';
import { BRIDGE, VXLAN } from '../link/kind-data.ts';
import type { LinkRecord } from '../link/record.ts';
import { inOrder as linksInOrder } from '../link/requests.ts';
import type { NeighbourRecord } from '../neighbour/record.ts';
import type { RouteRecord } from '../route/record.ts';
import { inOrder as routesInOrder } from '../route/requests.ts';
import { defaultRules, type RuleRecord } from '../rule/record.ts';
import { words } from './words.ts';

/** The lines of a namespace. */
export function dumpNetwork(namespace: Namespace): string[] {
  const standard = [...defaultRules(4), ...defaultRules(6)].map(ruleLine);
  return [
    ...linksInOrder(namespace).flatMap((link) => linkLines(namespace, link)),
    ...namespace.addresses.map((address) => addressLine(namespace, address)).toSorted(),
    ...routesInOrder(namespace.routes).map((route) => routeLine(namespace, route)),
    ...namespace.rules.map(ruleLine).filter((line) => !standard.includes(line)),
    ...namespace.neighbours.map((entry) => neighbourLine(namespace, entry)).toSorted(),
    ...namespace.fdb.map((entry) => fdbLine(namespace, entry)).toSorted(),
  ];
}

/** A link's name; its index where it has none any more. */
export function nameOf(namespace: Namespace, index: number | undefined): string | undefined {
  return index === undefined ? undefined : (namespace.links.get(index)?.name ?? `#${index}`);
}

function linkLines(namespace: Namespace, link: LinkRecord): string[] {
  const below = linkAt(link.lower);
  const elsewhere = link.lower !== undefined && link.lower.namespace !== namespace;
  const at = below && `@${elsewhere ? `${link.lower?.namespace.name}/` : ''}${below.name}`;
  const [data = {}] = Object.values(link.data ?? {});
  const usual = { bridge: BRIDGE, vxlan: VXLAN }[link.kind ?? ''] ?? {};
  return [
    words(
      `link ${link.name}${at ?? ''}`,
      link.kind,
      link.up ? 'up' : 'down',
      link.up && `state ${link.operstate}`,
      `mtu ${link.mtu}`,
      `address ${Mac.fromBytes(link.address)}`,
      link.master !== undefined && `master ${nameOf(namespace, link.master)}`,
      link.promiscuous && 'promisc',
      link.allmulti && 'allmulti',
      link.group !== 0 && `group ${link.group}`,
      `qlen ${link.txQueueLength}`,
      link.alias !== undefined && `alias ${JSON.stringify(link.alias)}`,
      link.altNames.length > 0 && `altnames ${link.altNames.join()}`,
      members(data, usual),
    ),
    ...(link.port === undefined
      ? []
      : [words(`port ${link.name}`, members(link.port.attributes, FRESH_PORT.attributes))]),
    ...link.vlans.map(({ id, pvid, untagged }) =>
      words(`vlan ${id} dev ${link.name}`, pvid && 'pvid', untagged && 'untagged'),
    ),
  ];
}

/** The members of a value but for those that are as usual. */
function members(value: object, usual: Readonly<Record<string, unknown>> = {}): string {
  return Object.entries(value)
    .filter(([key, each]) => key !== 'unknown' && String(each) !== String(usual[key]))
    .map(
      ([key, each]) =>
        `${key} ${typeof each === 'object' && !('toBytes' in each) ? JSON.stringify(each) : each}`,
    )
    .join(' ');
}

function addressLine(namespace: Namespace, address: AddressRecord): string {
  const { local, bits, flags, broadcast, label, protocol } = address;
  const name = nameOf(namespace, address.link);
  const has = (flag: number) => (flags & flag) !== 0;
  return words(
    `address ${local}/${bits} dev ${name}`,
    !address.address.equals(local) && `peer ${address.address}`,
    broadcast && `brd ${broadcast}`,
    `scope ${SCOPES.get(address.scope) ?? address.scope}`,
    label !== undefined && label !== name && `label ${label}`,
    has(IFA_F.SECONDARY) && 'secondary',
    has(IFA_F.NODAD) && 'nodad',
    has(IFA_F.TENTATIVE) && 'tentative',
    has(IFA_F.DADFAILED) && 'dadfailed',
    has(IFA_F.NOPREFIXROUTE) && 'noprefixroute',
    !has(IFA_F.PERMANENT) && `valid ${address.valid} preferred ${address.preferred}`,
    protocol !== undefined && `proto ${protocol}`,
  );
}

/** RT_SCOPE_* */
const SCOPES = new Map([
  [0, 'global'],
  [253, 'link'],
  [254, 'host'],
]);
/** RTPROT_* */
const PROTOCOLS = new Map([
  [2, 'kernel'],
  [4, 'static'],
]);

function routeLine(namespace: Namespace, route: RouteRecord): string {
  const { hops, table, source, metrics } = route;
  const ways = hops.map(({ gateway, via, link, weight, onlink }) =>
    words(
      gateway && `via ${gateway}`,
      via && `via inet6 ${via}`,
      `dev ${nameOf(namespace, link)}`,
      hops.length > 1 && `weight ${weight}`,
      onlink && 'onlink',
    ),
  );
  return words(
    'route',
    route.type !== 'unicast' && `${route.type}`,
    `${route.dst}`,
    route.src && `from ${route.src}`,
    ways.length > 1 ? ways.map((way) => `nexthop ${way}`).join(' ') : ways[0],
    table !== RT_TABLE.MAIN && `table ${table === RT_TABLE.LOCAL ? 'local' : table}`,
    route.protocol !== RTPROT.BOOT && `proto ${PROTOCOLS.get(route.protocol) ?? route.protocol}`,
    route.scope !== 0 && `scope ${SCOPES.get(route.scope) ?? route.scope}`,
    route.metric !== 0 && `metric ${route.metric}`,
    source && `src ${source}`,
    metrics && members(metrics),
  );
}

function ruleLine({ family, srcLength, dstLength, tos, action, flags, attributes: a }: RuleRecord): string {
  const { src, dst, priority = 0, table, suppressPrefixLength, protocol, ...rest } = a;
  return words(
    `rule ${familyOf(family) === 6 ? '-6 ' : ''}${priority}:`,
    (flags & 2) !== 0 && 'not',
    `from ${src === undefined ? 'all' : Prefix.of(src, srcLength)}`,
    dst && `to ${Prefix.of(dst, dstLength)}`,
    tos !== 0 && `tos ${tos}`,
    members(rest),
    suppressPrefixLength !== undefined &&
      suppressPrefixLength !== 0xffff_ffff &&
      `suppress_prefixlength ${suppressPrefixLength}`,
    action === 'table' ? `lookup ${table}` : `${action}`,
    protocol !== undefined && protocol !== 0 && protocol !== RTPROT.KERNEL && `proto ${protocol}`,
  );
}

function neighbourLine(
  namespace: Namespace,
  { link, address, mac, state, flags, protocol }: NeighbourRecord,
): string {
  return words(
    `neighbour ${address} dev ${nameOf(namespace, link)}`,
    mac && `lladdr ${Mac.fromBytes(mac)}`,
    (flags & NTF.PROXY) !== 0 ? 'proxy' : stateName(state),
    protocol !== undefined && `proto ${protocol}`,
  );
}

function fdbLine(namespace: Namespace, { index, state, flags, attributes: a }: NeighbourMessage): string {
  return words(
    `fdb ${a.linkAddress && Mac.fromBytes(a.linkAddress)} dev ${nameOf(namespace, index)}`,
    a.dst && `dst ${a.dst}`,
    a.vlan !== undefined && `vlan ${a.vlan}`,
    a.vni !== undefined && `vni ${a.vni}`,
    a.master !== undefined && `master ${nameOf(namespace, a.master)}`,
    (flags & NTF.SELF) !== 0 && 'self',
    stateName(state),
    a.protocol !== undefined && `proto ${a.protocol}`,
  );
}

function stateName(state: number): string {
  return (
    Object.entries(NUD)
      .find(([, number]) => number === state)?.[0]
      .toLowerCase() ?? `nud ${state}`
  );
}
