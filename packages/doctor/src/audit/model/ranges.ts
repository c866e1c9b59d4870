/** The addresses that configurations give out, as far as the files say. */
import { isJsonObject, type JsonObject, type JsonPath, type JsonValue } from '@heddle/cni';
import { Addr, AddrRange, Prefix } from '@heddle/netaddr';
import { isOn, listMember, member, type Network, type PluginPart, textMember } from './network.ts';

/** A range of a network. */
export interface Range {
  readonly network: Network;
  readonly part: PluginPart;
  /** Where the object is that has it. */
  readonly path: JsonPath;
  readonly object: JsonObject;
  /** The range set, from 0: a container gets one address of each. */
  readonly set: number;
  /** As written, host bits included. */
  readonly subnet: Prefix;
  readonly start?: Addr;
  readonly end?: Addr;
  readonly gateway?: Addr;
}

/** The ranges of host-local in the order of their sets; those whose subnet makes no sense are left out. */
export function rangesOf(network: Network): readonly Range[] {
  return network.document.memo.once(network, readRanges);
}

function readRanges(network: Network): readonly Range[] {
  return network.parts.flatMap((part) => {
    const { ipam, ipamPath, ipamType } = part;
    if (ipam === undefined || ipamType !== 'host-local' || part.known?.addresses === 'own') return [];
    const short = rangeAt(network, part, ipamPath, ipam, 0);
    const [key = 'ranges', sets] = member(ipam, 'ranges') ?? [];
    const shift = member(ipam, 'subnet') === undefined ? 0 : 1;
    const long = listOf(sets).flatMap((set, setIndex) =>
      listOf(set).flatMap((each, index) =>
        isJsonObject(each)
          ? rangeAt(network, part, [...ipamPath, key, setIndex, index], each, setIndex + shift)
          : [],
      ),
    );
    return [...short, ...long];
  });
}

/** The path of a range's member by the name it is written with. */
export function memberPath({ path, object }: Range, name: string): JsonPath {
  return [...path, member(object, name)?.[0] ?? name];
}

/** The ranges of a network by their sets: a container gets one address of each. */
export function setsOf(network: Network): readonly (readonly Range[])[] {
  return [...Map.groupBy(rangesOf(network), ({ part, set }) => `${part.index} ${set}`).values()];
}

/** The first and the last address that a range gives out; nothing for one that makes no sense. */
export function boundsOf({ subnet, start, end }: Range): AddrRange | undefined {
  const first = start ?? firstHost(subnet);
  const last = end ?? lastHost(subnet);
  if (!subnet.contains(first) || !subnet.contains(last)) return undefined;
  return Addr.compare(first, last) > 0 ? undefined : AddrRange.of(first, last);
}

/** How many addresses a range gives out; `undefined` for one that makes no sense. */
export function capacityOf(range: Range): bigint | undefined {
  const bounds = boundsOf(range);
  const gateway = gatewayOf(range);
  if (bounds === undefined) return undefined;
  return bounds.size() - (gateway !== undefined && bounds.contains(gateway) ? 1n : 0n);
}

/** The first host of a subnet; in one of at most two addresses all are hosts. */
export function firstHost(subnet: Prefix): Addr {
  return subnet.size() <= 2n ? subnet.network : (subnet.network.next() ?? subnet.network);
}

/** The last host of a subnet. */
export function lastHost(subnet: Prefix): Addr {
  return subnet.broadcast?.prev() ?? subnet.last;
}

/** The gateway, the default filled in. */
export function gatewayOf({ subnet, gateway }: Range): Addr | undefined {
  return gateway ?? (subnet.isSingle ? undefined : subnet.network.next());
}

/** Whether the host has a route to the subnet by the network: it then competes with other routes of the host. */
export function isRouted({ type, raw }: PluginPart): boolean {
  if (type === 'ptp') return true;
  return (
    type === 'bridge' && (isOn(raw, 'isGateway') || isOn(raw, 'isDefaultGateway') || isOn(raw, 'ipMasq'))
  );
}

/** The bridge of a part; what kind of part it is decides whether it has one. */
export function bridgeOf({ type, raw }: PluginPart): string | undefined {
  return type === 'bridge' ? (textMember(raw, 'bridge') ?? 'cni0') : undefined;
}

/** The link below the interfaces of a part, where it names one. */
export function masterOf({ type = '', raw }: PluginPart): string | undefined {
  return ['macvlan', 'ipvlan', 'vlan'].includes(type) ? textMember(raw, 'master') : undefined;
}

/** The routes of an `ipam` object with their places. */
export function routesOf({ ipam, ipamPath }: PluginPart) {
  if (ipam === undefined) return [];
  const [key = 'routes'] = member(ipam, 'routes') ?? [];
  return (listMember(ipam, 'routes') ?? []).flatMap((each, index) => {
    if (!isJsonObject(each)) return [];
    const destination = Prefix.tryParse(textMember(each, 'dst') ?? '');
    const gateway = Addr.tryParse(textMember(each, 'gw') ?? '');
    return destination === undefined
      ? []
      : [{ destination, gateway, object: each, path: [...ipamPath, key, index] }];
  });
}

function rangeAt(
  network: Network,
  part: PluginPart,
  path: JsonPath,
  object: JsonObject,
  set: number,
): readonly Range[] {
  const subnet = Prefix.tryParse(textMember(object, 'subnet') ?? '');
  if (subnet === undefined) return [];
  const addr = (name: string) => Addr.tryParse(textMember(object, name) ?? '');
  const [start, end, gateway] = [addr('rangeStart'), addr('rangeEnd'), addr('gateway')];
  return [
    {
      ...{ network, part, path, object, set, subnet },
      ...(start !== undefined && { start }),
      ...(end !== undefined && { end }),
      ...(gateway !== undefined && { gateway }),
    },
  ];
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}
