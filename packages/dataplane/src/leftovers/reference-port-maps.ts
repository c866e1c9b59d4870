/**
 * What the reference's nftables backend wrote to publish ports; the same for IPv6, in a table of its own:
 *
 * ```
 * table ip cni_hostport
 *   chain hostports      tcp dport 8080 dnat to 10.77.0.8:80                      one for each mapping
 *   chain masquerading   ip saddr 10.77.0.8 ip daddr 10.77.0.8 masquerade         who gets no answer otherwise
 *   chain hostports_all  jump hostports
 *   chain prerouting, chain output   fib daddr type local jump hostports_all      with the conditions of the last pod
 * ```
 *
 * The comment of a pod's rule is the ID of its container, no more: neither the network nor the interface.
 */
import type { AttachmentId } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';
import {
  dnat,
  ip,
  ip6,
  jump,
  type KernelSession,
  type ListedRule,
  masquerade,
  match,
  sctp,
  tcp,
  udp,
} from '@heddle/netlink';
import { jumpOf } from '../iptables-nft/read-rule.ts';
import { boundTo, mappingsOf, type PortMapping, type PortMaps } from '../port-mapping.ts';
import { missingRules, type ReferenceRule, removeRules } from './reference-rules.ts';

/** Takes away the rules of a container. */
export async function removeReferencePortMaps(
  host: KernelSession,
  tables: ReadonlySet<string>,
  { containerID }: AttachmentId,
): Promise<void> {
  for (const family of ['ip', 'ip6'] as const) {
    if (!tables.has(`${family} ${TABLE}`)) continue;
    await removeRules(host, { family, table: TABLE }, ({ comment }) => comment === containerID);
  }
}

/** What is missing of the rules of a container, in words; `undefined` when there are none at all. */
export async function missingReferencePortMaps(
  host: KernelSession,
  tables: ReadonlySet<string>,
  { containerID }: AttachmentId,
  maps: PortMaps,
): Promise<readonly string[] | undefined> {
  const missing: string[] = [];
  let isKnown = false;
  for (const target of maps.targets) {
    const where = { family: target.family === 4 ? 'ip' : 'ip6', table: TABLE } as const;
    const listed = tables.has(`${where.family} ${TABLE}`) ? await host.nft.rules(where) : [];
    const own = listed.filter(({ comment }) => comment === containerID);
    isKnown ||= own.length > 0;
    const wanted = podRules(target, maps);
    if (wanted.length === 0) continue;
    missing.push(...missingRules(where, [...own, ...listed.filter(isShared)], [...wanted, TO_PODS]));
    missing.push(
      ...ENTRIES.filter((entry) => !listed.some((rule) => rule.chain === entry && jumpOf(rule) === ALL)).map(
        (entry) => `rule of ${where.family} ${TABLE} ${entry}: jump ${ALL}`,
      ),
    );
  }
  return isKnown ? missing : undefined;
}

const TABLE = 'cni_hostport';
const ALL = 'hostports_all';
/** Where packets come in. The conditions there are those of whoever was last, and say nothing about others. */
const ENTRIES = ['prerouting', 'output'];
const TO_PODS: ReferenceRule = { chain: ALL, text: 'jump hostports', expressions: [jump('hostports')] };

const DPORT = { tcp: tcp.dport, udp: udp.dport, sctp: sctp.dport } as const;
const LOOPBACK4 = Addr.parse('127.0.0.1');

function podRules(target: Prefix, maps: PortMaps): readonly ReferenceRule[] {
  const mappings = mappingsOf(target.family, maps.mappings);
  return mappings.length === 0
    ? []
    : [...mappings.map((mapping) => mappingRule(mapping, target)), ...returnRules(target, maps)];
}

function mappingRule(mapping: PortMapping, { family, addr }: Prefix): ReferenceRule {
  const { protocol, hostPort, containerPort } = mapping;
  const { daddr } = family === 4 ? ip : ip6;
  const bound = boundTo(mapping);
  const to = `${family === 4 ? addr : `[${addr}]`}:${containerPort}`;
  return {
    chain: 'hostports',
    text: `${bound === undefined ? '' : `${daddr.text} ${bound} `}${protocol} dport ${hostPort} dnat to ${to}`,
    expressions: [
      ...(bound === undefined ? [] : [match(daddr, 'eq', bound)]),
      match(DPORT[protocol], 'eq', hostPort),
      dnat({ to: addr, port: containerPort }),
    ],
  };
}

function returnRules({ family, addr }: Prefix, { snat, masqAll }: PortMaps): readonly ReferenceRule[] {
  if (!snat) return [];
  const { saddr, daddr } = family === 4 ? ip : ip6;
  const everyone = family === 4 ? Prefix.DEFAULT4 : Prefix.DEFAULT6;
  const clients = masqAll ? [everyone] : [addr, ...(family === 4 ? [LOOPBACK4] : [])];
  return clients.map((client) => ({
    chain: 'masquerading',
    text: `${saddr.text} ${client} ${daddr.text} ${addr} masquerade`,
    expressions: [match(saddr, 'eq', client), match(daddr, 'eq', addr), masquerade()],
  }));
}

function isShared({ comment }: ListedRule): boolean {
  return comment === undefined;
}
