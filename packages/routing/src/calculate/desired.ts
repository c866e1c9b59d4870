/** What a kernel is to have, as values: each has a key (the place where there can be one) and a text (how it is). */
import { type Addr, type Mac, Prefix } from '@heddle/netaddr';

interface Keyed {
  /** Where it is: two objects of one key cannot both be. */
  readonly key: string;
  /** All that is wanted of it: equal for equal objects. */
  readonly text: string;
}

/** An overlay device. */
export interface DesiredLink extends Keyed {
  readonly kind: 'link';
  readonly name: string;
  /** In bytes. */
  readonly mtu: number;
  readonly data:
    | { readonly kind: 'vxlan'; readonly local: Addr; readonly mac: Mac }
    | { readonly kind: 'geneve'; readonly mac: Mac }
    | { readonly kind: 'ipip'; readonly local: Addr };
}

/** An address of an overlay device. */
export interface DesiredAddress extends Keyed {
  readonly kind: 'address';
  readonly device: string;
  readonly address: Addr;
}

/** Where a route leads. */
export type RouteTarget =
  | { readonly type: 'blackhole' }
  /** Over the underlay; the link's index. */
  | { readonly type: 'direct'; readonly link: number; readonly gateway: Addr }
  | {
      readonly type: 'overlay';
      readonly device: string;
      readonly gateway: Addr;
      /** Where the packets travel, where the device does not know that by itself. */
      readonly tunnel?: { readonly local: Addr; readonly remote: Addr };
    };

/** A route in the main table. */
export interface DesiredRoute extends Keyed {
  readonly kind: 'route';
  readonly dst: Prefix;
  readonly target: RouteTarget;
  /** Where it is smaller than the link's; in bytes. */
  readonly mtu?: number;
}

/** Which MAC a peer's address has on a device. */
export interface DesiredNeighbour extends Keyed {
  readonly kind: 'neighbour';
  readonly device: string;
  readonly address: Addr;
  readonly mac: Mac;
}

/** At which node a MAC is. */
export interface DesiredFdb extends Keyed {
  readonly kind: 'fdb';
  readonly device: string;
  readonly mac: Mac;
  readonly remote: Addr;
}

/** A parameter of the kernel. */
export interface DesiredSysctl extends Keyed {
  readonly kind: 'sysctl';
  readonly name: string;
  readonly value: string;
  /** It is set only where it has this value. */
  readonly insteadOf?: string;
}

/** What leaves the cluster takes the node's address. */
export interface DesiredNat extends Keyed {
  readonly kind: 'nat';
  /** All ranges of pods: within them nothing is changed. */
  readonly pools: readonly Prefix[];
  /** Those whose traffic to elsewhere is. */
  readonly outgoing: readonly Prefix[];
}

/** Pods are heard under their own addresses only. */
export interface DesiredSources extends Keyed {
  readonly kind: 'sources';
}

/** What pods send and are sent is let through. */
export interface DesiredForward extends Keyed {
  readonly kind: 'forward';
  /** All ranges of pods. */
  readonly pools: readonly Prefix[];
}

/** See the file's comment. */
export type DesiredObject =
  | DesiredLink
  | DesiredAddress
  | DesiredRoute
  | DesiredNeighbour
  | DesiredFdb
  | DesiredSysctl
  | DesiredNat
  | DesiredSources
  | DesiredForward;

/** What a node's kernel is to have, by key. */
export interface DesiredState {
  readonly objects: ReadonlyMap<string, DesiredObject>;
  /** What cannot be as it should: `node n7` → why. Trying does not mend it. */
  readonly faults: ReadonlyMap<string, string>;
}

export function desiredLink(name: string, mtu: number, data: DesiredLink['data']): DesiredLink {
  const more = Object.entries(data).map(([what, value]) => `${what} ${value}`);
  return { kind: 'link', key: `link ${name}`, text: `${more.join(' ')} mtu ${mtu}`, name, mtu, data };
}

export function desiredAddress(device: string, address: Addr): DesiredAddress {
  return { kind: 'address', key: `address ${device} ${address}`, text: '', device, address };
}

export function desiredRoute(dst: Prefix, target: RouteTarget, mtu?: number): DesiredRoute {
  const text = `${targetText(target)}${mtu === undefined ? '' : ` mtu ${mtu}`}`;
  return { kind: 'route', key: routeKey(dst), text, dst, target, ...(mtu !== undefined && { mtu }) };
}

export function desiredNeighbour(device: string, address: Addr, mac: Mac): DesiredNeighbour {
  const key = neighbourKey(device, address);
  return { kind: 'neighbour', key, text: `${mac}`, device, address, mac };
}

export function desiredFdb(device: string, mac: Mac, remote: Addr): DesiredFdb {
  return { kind: 'fdb', key: fdbKey(device, mac), text: `${remote}`, device, mac, remote };
}

export function desiredSysctl(name: string, value: string, insteadOf?: string): DesiredSysctl {
  const condition = insteadOf === undefined ? {} : { insteadOf };
  return { kind: 'sysctl', key: `sysctl ${name}`, text: `${value} ${insteadOf}`, name, value, ...condition };
}

export function desiredNat(pools: readonly Prefix[], outgoing: readonly Prefix[]): DesiredNat {
  const sorted = [pools, outgoing].map((each) => [...each].sort(Prefix.compare));
  const [all = [], out = []] = sorted;
  return {
    kind: 'nat',
    key: 'nat',
    text: `${all.join(' ')} out ${out.join(' ')}`,
    pools: all,
    outgoing: out,
  };
}

/** What keeps pods to their addresses: the same on every node. */
export const DESIRED_SOURCES: DesiredSources = { kind: 'sources', key: 'sources', text: '' };

export function desiredForward(pools: readonly Prefix[]): DesiredForward {
  const sorted = [...pools].sort(Prefix.compare);
  return { kind: 'forward', key: 'forward', text: sorted.join(' '), pools: sorted };
}

/** The key of a route. */
export function routeKey(dst: Prefix): string {
  return `route ${dst}`;
}

/** The key of a neighbour. */
export function neighbourKey(device: string, address: Addr): string {
  return `neighbour ${device} ${address}`;
}

/** The key of a forwarding entry. */
export function fdbKey(device: string, mac: Mac): string {
  return `fdb ${device} ${mac}`;
}

function targetText(target: RouteTarget): string {
  if (target.type === 'blackhole') return 'blackhole';
  if (target.type === 'direct') return `via ${target.gateway} dev #${target.link}`;
  const { device, gateway, tunnel } = target;
  return `via ${gateway} dev ${device}${tunnel === undefined ? '' : ` from ${tunnel.local} to ${tunnel.remote}`}`;
}
