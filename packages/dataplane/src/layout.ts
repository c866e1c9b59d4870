/**
 * Our layout in nftables for address translation: one table, built once, then only filled and emptied.
 *
 * Rules are few and fixed; what differs from pod to pod are elements of maps and sets, each with its owner's comment.
 * A packet therefore costs the same on a node with two pods and with two thousand: one look-up per set. ADD changes
 * elements in one atomic transaction, which also builds the structure where it is missing; DEL finds elements by their
 * owner and needs to know nothing else. The structure is shared and stays.
 *
 * ```
 * table inet heddle
 *   map ports4            protocol . port : pod . port             published on every address of the node
 *   map address_ports4    address . protocol . port : pod . port   published on one
 *   set port_return4      clients' network . pod                   masqueraded when they come by a published port
 *   set masquerade4       pod                                      masqueraded …
 *   set home4             pod . its network                        … but not to here
 *   (ports6 and so on: the same for IPv6)
 *
 *   chain guard              filter prerouting -300   drops what no wire may carry: packets to 127.0.0.0/8
 *   chain prerouting         nat prerouting -100      to an address of this node: ports
 *   chain output             nat output -100          the same for what this node sends itself
 *   chain ports                                       leaves ::1 alone; conditional_ports; dnat by the maps
 *   chain conditional_ports                           a rule for every mapping that has conditions of its own
 *   chain postrouting        nat postrouting 100      port_return; masquerade but for home and multicast
 * ```
 *
 * - `port_return` holds who could not get an answer from a pod behind a published port otherwise: the pod's own network,
 *   itself included (it would answer its neighbours directly, past the translation of this node), and 127.0.0.0/8 (it
 *   would answer to its own loopback); with `masqAll`, everybody. Only translated connections are looked up.
 * - `guard` takes back what `route_localnet` gives away: a neighbour could reach services of this node that listen on
 *   the loopback address only. No packet from a wire is meant for it (RFC 1122, 3.2.1.3), and at this priority no
 *   translation has happened yet.
 * - Nothing leads from `::1` to a pod: IPv6 has no `route_localnet`. Such packets are left to whoever listens there.
 * - The rule in `prerouting` has `LAYOUT` as its comment. Where it is found, the structure is there and of this
 *   version. A table that was flushed, or is of another version, gets its rules anew; elements stay.
 */
import { Addr, Prefix } from '@heddle/netaddr';
import {
  add,
  chain,
  concat,
  ct,
  dnat,
  drop,
  fib,
  flush,
  ip,
  ip6,
  jump,
  type KernelSession,
  type KeyType,
  map,
  masquerade,
  match,
  meta,
  type NftChain,
  type NftChange,
  type NftRule,
  type NftSet,
  ret,
  rule,
  type Statement,
  set,
  setRef,
  table,
  th,
} from '@heddle/netlink';
import { BASE_CHAINS, TABLES } from './numbers.ts';

/** The address family of sets and addresses. */
export type Family = 4 | 6;

/** The table that holds everything of this file, and the parts of the firewall. */
export const NAT = TABLES.nat;
/** That table itself. */
export const TABLE = table({
  family: NAT.family,
  name: NAT.table,
  comment: 'Heddle: published ports, masquerading and firewall of pods',
});
/** The version of the structure, as the comment of the rule in `prerouting`. */
const LAYOUT = 'layout 1';

const PORT_KEY: readonly KeyType[] = ['inet_proto', 'inet_service'];

/** Ports published on every address of the node. */
export const PORTS = byFamily((family) =>
  map({ ...NAT, name: `ports${family}`, key: PORT_KEY, data: [addressType(family), 'inet_service'] }),
);
/** Ports published on one address. */
export const ADDRESS_PORTS = byFamily((family) =>
  map({
    ...{ ...NAT, name: `address_ports${family}` },
    ...{ key: [addressType(family), ...PORT_KEY], data: [addressType(family), 'inet_service'] },
  }),
);
/** Who is masqueraded on the way to which pod, when it comes by a published port. */
export const PORT_RETURN = byFamily((family) =>
  set({ ...NAT, name: `port_return${family}`, key: pair(family), intervals: true }),
);
/** Whose packets are masqueraded. */
export const MASQUERADE = byFamily((family) =>
  set({ ...NAT, name: `masquerade${family}`, key: addressType(family) }),
);
/** Where they are not masqueraded to: their own networks. */
export const HOME = byFamily((family) =>
  set({ ...NAT, name: `home${family}`, key: pair(family), intervals: true }),
);
/** The chain of mappings with conditions of their own. */
export const CONDITIONAL_PORTS = chain({ ...NAT, name: 'conditional_ports' });

/** Whether the structure is there, whole and of this version. */
export async function hasStructure({ nft }: KernelSession): Promise<boolean> {
  const rules = await nft.rules({ ...NAT, chain: 'prerouting' });
  return rules.some(({ comment }) => comment === LAYOUT);
}

/** The changes that build the structure; what it holds already stays. */
export function structure(): readonly NftChange[] {
  return [
    add(TABLE),
    ...[PORTS, ADDRESS_PORTS, PORT_RETURN, MASQUERADE, HOME].flatMap((each) => [add(each[4]), add(each[6])]),
    ...[...CHAINS, CONDITIONAL_PORTS].map(add),
    ...CHAINS.map(flush),
    ...rules().map(add),
  ];
}

/** The fixed rules, in order within each chain. */
export function rules(): readonly NftRule[] {
  const local = match(fib({ by: ['daddr'], result: 'type' }), 'eq', 'local');
  const loopback4 = match(ip.daddr, 'eq', Prefix.parse('127.0.0.0/8'));
  return [
    ruleIn('guard', [match(meta.iifname, 'ne', 'lo'), loopback4, drop()]),
    { ...ruleIn('prerouting', [local, jump('ports')]), comment: LAYOUT },
    ruleIn('output', [local, jump('ports')]),

    ruleIn('ports', [match(ip6.daddr, 'eq', Addr.parse('::1')), ret()]),
    ruleIn('ports', [jump(CONDITIONAL_PORTS.name)]),
    ...FAMILIES.flatMap((family) => {
      const { nfproto, daddr, nat } = FIELDS[family];
      const to = (key: ReturnType<typeof concat>, { name }: NftSet) =>
        dnat({ family: nat, fromMap: { key, map: name, withPort: true } });
      return [
        ruleIn('ports', [to(concat(daddr, meta.l4proto, th.dport), ADDRESS_PORTS[family])]),
        ruleIn('ports', [nfproto, to(concat(meta.l4proto, th.dport), PORTS[family])]),
      ];
    }),

    ...FAMILIES.map((family) => {
      const { saddr, daddr } = FIELDS[family];
      const translated = match(ct.status, 'in', ['dnat']);
      const known = match(concat(saddr, daddr), 'in', setRef(PORT_RETURN[family].name));
      return ruleIn('postrouting', [translated, known, masquerade()]);
    }),
    ...FAMILIES.flatMap((family) => {
      const { saddr, daddr, multicast } = FIELDS[family];
      return [
        ruleIn('postrouting', [match(daddr, 'eq', multicast), ret()]),
        ruleIn('postrouting', [match(concat(saddr, daddr), 'in', setRef(HOME[family].name)), ret()]),
        ruleIn('postrouting', [match(saddr, 'in', setRef(MASQUERADE[family].name)), masquerade()]),
      ];
    }),
  ];
}

const FAMILIES = [4, 6] as const;

const CHAINS: readonly NftChain[] = [
  chain({ ...NAT, name: 'ports' }),
  chain({ ...NAT, name: 'guard', base: BASE_CHAINS.guard }),
  chain({ ...NAT, name: 'prerouting', base: BASE_CHAINS.prerouting }),
  chain({ ...NAT, name: 'output', base: BASE_CHAINS.output }),
  chain({ ...NAT, name: 'postrouting', base: BASE_CHAINS.postrouting }),
];

const FIELDS = {
  4: {
    nat: 'ip',
    saddr: ip.saddr,
    daddr: ip.daddr,
    nfproto: match(meta.nfproto, 'eq', 'ipv4'),
    multicast: Prefix.parse('224.0.0.0/4'),
  },
  6: {
    nat: 'ip6',
    saddr: ip6.saddr,
    daddr: ip6.daddr,
    nfproto: match(meta.nfproto, 'eq', 'ipv6'),
    multicast: Prefix.parse('ff00::/8'),
  },
} as const;

function addressType(family: Family): KeyType {
  return family === 4 ? 'ipv4_addr' : 'ipv6_addr';
}

function pair(family: Family): readonly KeyType[] {
  return [addressType(family), addressType(family)];
}

function byFamily<T>(make: (family: Family) => T): Readonly<Record<Family, T>> {
  return { 4: make(4), 6: make(6) };
}

function ruleIn(chainName: string, expressions: readonly Statement[]): NftRule {
  return rule({ ...NAT, chain: chainName, expressions });
}
