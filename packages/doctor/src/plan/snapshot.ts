/** What is in a namespace, as lines that differ exactly when something was added, changed or taken away. */
import type { KernelSession, Link, NftChain, Qdisc, Route } from '@heddle/netlink';
import { formatHandle, formatKey, type ListedElement, NetlinkError, RT_SCOPE } from '@heddle/netlink';
import { linkParameters, NODE_PARAMETERS } from './parameters.ts';
import { ruleText } from './rule-text.ts';

/** What a line is about, in the order in which they are shown. */
export const MATTERS = [
  'link',
  'address',
  'route',
  'rule',
  'neighbour',
  'parameter',
  'nftables',
  'iptables',
  'tc',
] as const;

/** See {@link MATTERS}. */
export type Matter = (typeof MATTERS)[number];

/** One thing that is there. */
export interface Item {
  readonly matter: Matter;
  readonly text: string;
}

/**
 * Looks at a namespace. What changes by itself is left out: counters, ages, link-local addresses.
 *
 * @param otherSide where links lead that leave the namespace: `in the pod`
 */
export async function snapshotOf(session: KernelSession, otherSide: string): Promise<readonly Item[]> {
  const links = await session.links.list();
  const nameOf = (index: number | undefined) =>
    links.find((link) => link.index === index)?.name ?? `link ${index}`;
  const item =
    (matter: Matter) =>
    (text: string): Item => ({ matter, text });
  const addresses = (await session.addresses.list()).filter(({ prefix }) => !prefix.addr.isLinkLocal);
  const routes = (await session.routes.list()).filter(isShown);
  const neighbours = (await session.neighbours.list()).filter(
    ({ state, proxy, address }) => ((state & PERMANENT) !== 0 || proxy) && !address.isMulticast,
  );
  return [
    ...links.map((link) => linkText(link, nameOf, otherSide)).map(item('link')),
    ...addresses
      .map(
        ({ prefix, link, peer }) =>
          `${prefix}${peer === undefined ? '' : ` peer ${peer}`} on ${nameOf(link)}`,
      )
      .map(item('address')),
    ...routes.map((route) => routeText(route, nameOf)).map(item('route')),
    ...(await rulesOf(session)).map(item('rule')),
    ...neighbours
      .map(
        ({ address, mac, link, proxy }) =>
          `${proxy ? 'proxy ' : ''}${address}${mac ? ` is ${mac}` : ''} on ${nameOf(link)}`,
      )
      .map(item('neighbour')),
    ...(await parametersOf(session, links)).map(item('parameter')),
    ...(await rulesetOf(session)),
    ...(await trafficOf(session, nameOf)).map(item('tc')),
  ];
}

/** NUD_PERMANENT */
const PERMANENT = 0x80;
const LOCAL_TABLE = 255;
const MAIN_TABLE = 254;
/** RTPROT_KERNEL */
const BY_KERNEL = 2;
/** RTM_F_CLONED */
const CLONED = 0x200;

function linkText(link: Link, nameOf: (index: number | undefined) => string, otherSide: string): string {
  const { name, kind, up, mtu, mac, master, alias, parent, parentNetnsId, port, data } = link;
  const above =
    parent === undefined || kind === undefined
      ? []
      : parentNetnsId !== undefined
        ? [kind === 'veth' ? `other end ${otherSide}` : `on a link ${otherSide}`]
        : parent === 0
          ? []
          : [kind === 'veth' ? `other end ${nameOf(parent)}` : `on ${nameOf(parent)}`];
  const facts = [
    kind ?? 'hardware',
    ...(data?.kind === 'vlan' ? [`id ${data.id}`] : []),
    ...(data?.kind === 'bridge' && data.vlanFiltering === true ? ['vlan filtering'] : []),
    up ? 'up' : 'down',
    `mtu ${mtu}`,
    // A bridge takes the address of one of its ports until it has one of its own.
    ...(mac === undefined || kind === 'bridge' ? [] : [`mac ${mac}`]),
    ...above,
    ...(master === undefined || master === 0 ? [] : [`in ${nameOf(master)}`]),
    ...(port?.hairpin === true ? ['hairpin'] : []),
    ...(port?.isolated === true ? ['isolated'] : []),
    ...(alias === undefined ? [] : [`alias "${alias}"`]),
  ];
  return `${name}: ${facts.join(', ')}`;
}

function isShown({ type, flags, table, protocol, dst }: Route): boolean {
  if (type === 'multicast' || (flags & CLONED) !== 0 || (table === LOCAL_TABLE && protocol === BY_KERNEL))
    return false;
  return !dst.addr.isLinkLocal && !dst.addr.isMulticast;
}

function routeText(route: Route, nameOf: (index: number | undefined) => string): string {
  const { dst, gateway, via, link, table, metric, type, source, scope, onlink, nexthops = [] } = route;
  const words = [
    ...(type === 'unicast' ? [] : [type]),
    dst.bits === 0 ? `default (${dst})` : dst,
    ...((gateway ?? via) === undefined ? [] : [`via ${gateway ?? via}`]),
    ...(link === undefined ? [] : [`dev ${nameOf(link)}`]),
    ...(table === MAIN_TABLE ? [] : [`table ${table}`]),
    ...(scope === RT_SCOPE.LINK && gateway === undefined ? ['scope link'] : []),
    ...(source === undefined ? [] : [`src ${source}`]),
    ...(metric === undefined ? [] : [`metric ${metric}`]),
    ...(onlink ? ['onlink'] : []),
    ...nexthops.map(
      (hop) => `nexthop ${hop.gateway ?? hop.via ?? ''} dev ${nameOf(hop.link)} weight ${hop.weight}`,
    ),
  ];
  return words.join(' ');
}

async function rulesOf(session: KernelSession): Promise<readonly string[]> {
  return (await session.rules.list()).map(
    ({ family, priority, from, to, iif, oif, fwmark, table, action, ...rest }) =>
      [
        `${priority}: IPv${family} from ${from ?? 'all'}`,
        ...(to === undefined ? [] : [`to ${to}`]),
        ...(iif === undefined ? [] : [`iif ${iif}`]),
        ...(oif === undefined ? [] : [`oif ${oif}`]),
        ...(fwmark === undefined ? [] : [`fwmark 0x${fwmark.toString(16)}`]),
        ...(rest.l3mdev === true ? ['l3mdev'] : []),
        action === 'table' ? `lookup ${table}` : action,
      ].join(' '),
  );
}

async function parametersOf(session: KernelSession, links: readonly Link[]): Promise<readonly string[]> {
  const names = [...NODE_PARAMETERS, ...links.flatMap(({ name }) => linkParameters(name))];
  const lines: string[] = [];
  for (const name of names) {
    if (await session.sysctl.has(name)) lines.push(`${name} = ${await session.sysctl.read(name)}`);
  }
  return lines;
}

async function rulesetOf({ nft }: KernelSession): Promise<readonly Item[]> {
  const items: Item[] = [];
  let tables: Awaited<ReturnType<typeof nft.tables>>;
  try {
    tables = await nft.tables();
  } catch (error) {
    // A kernel without nf_tables has no rules.
    if (error instanceof NetlinkError) return [];
    throw error;
  }
  for (const { family, name: table } of tables) {
    const isIptables = (family === 'ip' || family === 'ip6') && IPTABLES.includes(table);
    const matter = isIptables ? 'iptables' : 'nftables';
    const where = isIptables
      ? `${family === 'ip' ? 'iptables' : 'ip6tables'} -t ${table}`
      : `${family} ${table}`;
    const add = (text: string) =>
      void items.push({ matter, text: text === '' ? `table ${where}` : `${where} ${text}` });
    add('');
    for (const chain of await nft.chains({ family, table })) add(chainText(chain));
    for (const { chain, expressions, comment } of await nft.rules({ family, table })) {
      add(`${chain}: ${ruleText(expressions)}${comment === undefined ? '' : ` comment "${comment}"`}`);
    }
    for (const set of await nft.sets({ family, table })) {
      add(`${set.data === undefined ? 'set' : 'map'} ${set.name}`);
      for (const element of await nft.elements({ family, table, set: set.name })) add(elementText(element));
    }
  }
  return items;
}

const IPTABLES: readonly string[] = ['filter', 'nat', 'mangle', 'raw', 'security'];

function chainText({ name, base }: NftChain): string {
  if (base === undefined) return `chain ${name}`;
  const { type, hook, priority, policy = 'accept' } = base;
  return `chain ${name} (${type} hook ${hook} priority ${priority}, policy ${policy})`;
}

function elementText({ set, key, data }: ListedElement): string {
  if (data === undefined) return `in ${set}: ${formatKey(key)}`;
  const value =
    typeof data !== 'object' || !('kind' in data)
      ? formatKey(data)
      : `${data.verdict}${'chain' in data ? ` ${data.chain}` : ''}`;
  return `in ${set}: ${formatKey(key)} → ${value}`;
}

/** Disciplines that are not the kernel's own choice, with their classes and filters. */
async function trafficOf(
  session: KernelSession,
  nameOf: (index: number | undefined) => string,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const qdiscs = (await session.qdiscs.list()).filter(
    ({ kind, handle }) => kind !== 'noqueue' && handle !== 0,
  );
  for (const qdisc of qdiscs) {
    const { link, handle } = qdisc;
    lines.push(`qdisc ${qdiscText(qdisc)} on ${nameOf(link)}`);
    for (const { kind, handle: own, htb } of await session.classes.list({ link })) {
      if (own >>> 16 !== handle >>> 16) continue;
      const rate = htb === undefined ? '' : ` rate ${rateText(htb.rate)}`;
      lines.push(`class ${kind} ${formatHandle(own)}${rate} on ${nameOf(link)}`);
    }
    for (const filter of await session.filters.list({ link, parent: handle })) {
      const { kind, priority, u32, matchall } = filter;
      const all = u32?.actions ?? matchall?.actions ?? [];
      const actions = [...new Set(all.map((action) => actionText(action, nameOf)))];
      const to = actions.length === 0 ? '' : `: ${actions.join(', ')}`;
      lines.push(`filter ${kind} priority ${priority} at ${formatHandle(handle)} of ${nameOf(link)}${to}`);
    }
  }
  return lines;
}

function actionText(action: object, nameOf: (index: number | undefined) => string): string {
  const { kind = 'action', link } = action as { readonly kind?: string; readonly link?: number };
  return link === undefined ? kind : `${kind} to ${nameOf(link)}`;
}

function qdiscText({ kind, handle, tbf }: Qdisc): string {
  const limit =
    tbf === undefined
      ? ''
      : `, rate ${rateText(tbf.rate)}, burst ${Math.round(tbf.buffer * TICK * tbf.rate)} bytes`;
  return `${kind} ${formatHandle(handle)}${limit}`;
}

/** Seconds in a unit of a bucket. */
const TICK = 64e-9;

/** Bytes a second, told in bits as operators write it. */
function rateText(rate: number | bigint): string {
  return `${BigInt(rate) * 8n} bit/s`;
}
