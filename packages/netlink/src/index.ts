export type { Address, AddressKey, AddressSpec } from './address/address.ts';
export { Addresses, type AddressFilter } from './address/addresses.ts';
export { Bridges, type FdbFilter } from './bridge/bridges.ts';
export type { FdbEntry, FdbKey, FdbSpec } from './bridge/fdb.ts';
export type { BridgePort, BridgePortChange } from './bridge/port-codec.ts';
export type { PortVlan, PortVlanKey, PortVlanSpec } from './bridge/vlan.ts';
export * from './conntrack/index.ts';
export type { Change, IndexOf, LinkRef, NetnsTarget } from './core/change.ts';
export { type Dump, NetlinkClient } from './core/client.ts';
export type { Effort } from './core/effort.ts';
export type { Family } from './core/family.ts';
export { NETLINK, NLM_F } from './core/header.ts';
export type { Message, Reply } from './core/message.ts';
export { type ExtendedAck, NetlinkError } from './core/netlink-error.ts';
export type { ExchangeObserver } from './core/observed-transport.ts';
export type { Outcomes, Query, Step } from './core/query.ts';
export { type Mode, type ModeChoice, type SocketOptions, SocketTransport } from './core/socket-transport.ts';
export type { Transport } from './core/transport.ts';
export type {
  LinkChange,
  LinkDataSpec,
  LinkKindSpec,
  LinkSpec,
  LinkSpecBase,
  VethPeer,
} from './link/changes.ts';
export type { Link, LinkData } from './link/link.ts';
export { type LinkFilter, Links } from './link/links.ts';
export { LinkRemovals, type RemovalOptions } from './link/removals.ts';
export type { Neighbour, NeighbourKey, NeighbourSpec } from './neighbour/neighbour.ts';
export { type NeighbourFilter, Neighbours } from './neighbour/neighbours.ts';
export * from './nft/index.ts';
export { type RouteMetrics, RT_SCOPE } from './route/codec.ts';
export type { RouteEncap } from './route/encap.ts';
export type { Nexthop, Route, RouteSpec, RouteType } from './route/route.ts';
export { type LookupOptions, type RouteFilter, Routes } from './route/routes.ts';
export type { Range, Rule, RuleAction, RuleSpec } from './rule/rule.ts';
export { type RuleFilter, Rules } from './rule/rules.ts';
export type { EventGroup, KernelEvent } from './session/events.ts';
export type { Packets } from './session/packets.ts';
export type { ProcNet } from './session/proc-net.ts';
export {
  type KernelSession,
  openSession,
  type SessionOptions,
  type SessionPorts,
  sessionOver,
} from './session/session.ts';
export type { SubscribeOptions, Subscription } from './session/subscription.ts';
export type { Sysctl } from './session/sysctl.ts';
export type { TrafficClass, TrafficClassKey, TrafficClassSpec } from './tc/class.ts';
export type { TcStats } from './tc/codec.ts';
export type { TrafficFilter, TrafficFilterKey, TrafficFilterSpec } from './tc/filter.ts';
export { formatHandle, TC_H, tcHandle } from './tc/handle.ts';
export type { Action, ActionVerdict } from './tc/kinds/action.ts';
export type { Htb, HtbClass } from './tc/kinds/htb.ts';
export type { Matchall } from './tc/kinds/matchall.ts';
export { burstTicks } from './tc/kinds/rate.ts';
export type { Tbf } from './tc/kinds/tbf.ts';
export type { U32Filter, U32Key } from './tc/kinds/u32.ts';
export type { Qdisc, QdiscKey, QdiscSpec } from './tc/qdisc.ts';
export { Qdiscs, TrafficClasses, TrafficFilters } from './tc/traffic.ts';
