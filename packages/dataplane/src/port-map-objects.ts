/** The elements and rules that a container's published ports become in our table. */
import type { AttachmentId } from '@heddle/cni';
import { ownerComment } from '@heddle/cni/plugin';
import { Prefix } from '@heddle/netaddr';
import {
  dnat,
  element,
  ip,
  ip6,
  type KeyValue,
  match,
  meta,
  type NftElement,
  type NftRule,
  type NftSet,
  rule,
  type Statement,
  th,
} from '@heddle/netlink';
import { parseConditions } from './conditions.ts';
import { ADDRESS_PORTS, CONDITIONAL_PORTS, NAT, PORT_RETURN, PORTS } from './layout.ts';
import { boundTo, mappingsOf, type PortMapping, type PortMaps } from './port-mapping.ts';

/** What published ports become. */
export interface PortMapObjects {
  readonly elements: readonly NftElement[];
  /** One for each mapping that has conditions; no map could hold these. */
  readonly rules: readonly NftRule[];
}

/**
 * The objects for the published ports of an owner.
 *
 * @throws {ConfigError} for conditions that are not understood, or one port mapped to two
 */
export function portMapObjects(owner: AttachmentId, maps: PortMaps): PortMapObjects {
  const elements: NftElement[] = [];
  const rules: NftRule[] = [];
  const comment = ownerComment(owner);
  for (const target of maps.targets) {
    const mappings = mappingsOf(target.family, maps.mappings);
    if (mappings.length === 0) continue;
    const conditions = maps.conditions?.[target.family] ?? [];
    if (conditions.length === 0) elements.push(...mappings.map((each) => portElement(each, target, comment)));
    else {
      const matches = parseConditions(conditions, target.family);
      rules.push(...mappings.map((each) => portRule(each, target, matches, comment)));
    }
    elements.push(...returnElements(target, maps, comment));
  }
  return { elements, rules };
}

function portElement(mapping: PortMapping, { family, addr }: Prefix, comment: string): NftElement {
  const bound = boundTo(mapping);
  const port = [mapping.protocol, mapping.hostPort] as const;
  return elementOf(bound === undefined ? PORTS[family] : ADDRESS_PORTS[family], comment, {
    key: bound === undefined ? port : [bound, ...port],
    data: [addr, mapping.containerPort],
  });
}

function portRule(
  mapping: PortMapping,
  { family, addr }: Prefix,
  conditions: readonly Statement[],
  comment: string,
): NftRule {
  const bound = boundTo(mapping);
  const daddr = family === 4 ? ip.daddr : ip6.daddr;
  return rule({
    ...{ ...NAT, chain: CONDITIONAL_PORTS.name, comment },
    expressions: [
      match(meta.nfproto, 'eq', family === 4 ? 'ipv4' : 'ipv6'),
      ...conditions,
      ...(bound === undefined ? [] : [match(daddr, 'eq', bound)]),
      match(meta.l4proto, 'eq', mapping.protocol),
      match(th.dport, 'eq', mapping.hostPort),
      dnat({ to: addr, port: mapping.containerPort }),
    ],
  });
}

/** Who is masqueraded on the way to the target. */
function returnElements(target: Prefix, { snat, masqAll }: PortMaps, comment: string): readonly NftElement[] {
  if (!snat) return [];
  const { family, addr } = target;
  const everyone = family === 4 ? Prefix.DEFAULT4 : Prefix.DEFAULT6;
  const clients = masqAll ? [everyone] : [target.masked(), ...(family === 4 ? [LOOPBACK4] : [])];
  return clients.map((client) => elementOf(PORT_RETURN[family], comment, { key: [client, addr] }));
}

const LOOPBACK4 = Prefix.parse('127.0.0.0/8');

function elementOf(
  set: NftSet,
  comment: string,
  parts: { readonly key: KeyValue; readonly data?: KeyValue },
): NftElement {
  return element({ family: set.family, table: set.table, set, comment, ...parts });
}
