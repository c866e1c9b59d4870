export { calculate } from './calculate/calculate.ts';
export type { DesiredObject, DesiredState } from './calculate/desired.ts';
export { podMtu } from './calculate/overlays.ts';
export type { Borrowed, ClusterView, OwnNode } from './calculate/view.ts';
export { type Clock, systemClock } from './clock.ts';
export { joinCluster } from './cluster/join.ts';
export type { JoinOptions, Membership, MembershipEvent, MembershipState } from './cluster/membership.ts';
export { listNodes, type NodeEntry, removeGoneNode } from './cluster/nodes.ts';
export { type MemberRecord, memberCodec, NODE_KEYS, type NodeRecord, nodeCodec } from './cluster/records.ts';
export { isTunnelHandle, tunnelHandle } from './cluster/tunnel.ts';
export { prepareOverlays } from './prepare.ts';
export { type Router, type RouterEvent, type RouterOptions, startRouter } from './router.ts';
export { RoutingError, type RoutingErrorCode } from './routing-error.ts';
export type {
  DeviceStatus,
  PathStatus,
  PeerStatus,
  PoolStatus,
  RoutingProblem,
  RoutingStatus,
} from './status.ts';
export {
  findUnderlay,
  type Underlay,
  type UnderlayAddress,
  type UnderlayOptions,
} from './underlay/underlay.ts';
export { withdrawRouting } from './withdraw.ts';
