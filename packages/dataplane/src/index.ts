export { isForwardUntold, removeClusterForward, syncClusterForward } from './cluster/forward.ts';
export { type ClusterRanges, removeClusterNat, syncClusterNat } from './cluster/nat.ts';
export { removeClusterSources, syncClusterSources } from './cluster/sources.ts';
export { parseConditions } from './conditions.ts';
export { DBusError } from './dbus/dbus-error.ts';
export {
  addFirewall,
  checkFirewall,
  detectFirewall,
  type FirewallBackend,
  type FirewallOptions,
  type FirewallSurroundings,
  gcFirewall,
  removeFirewall,
  SYSTEM_BUS,
} from './firewall/firewall.ts';
export type { Isolation } from './firewall/forward-rules.ts';
export { IptablesError } from './iptables/table.ts';
export {
  addMasquerade,
  checkMasquerade,
  gcMasquerade,
  type MasqueradeOptions,
  type NatBackend,
  removeMasquerade,
} from './masquerade.ts';
export {
  BASE_CHAINS,
  LINK_GROUPS,
  PACKET_MARKS,
  ROUTE_METRIC,
  ROUTE_PROTOCOL,
  ROUTING_TABLES,
  RUNTIME_PATHS,
  TABLES,
  UDP_PORTS,
  VNIS,
} from './numbers.ts';
export type { OwnedElement } from './owned-elements.ts';
export {
  describeHostPort,
  isUnreachable,
  mappingsOf,
  type PortMapping,
  type PortMaps,
  PROTOCOLS,
  type Protocol,
} from './port-mapping.ts';
export { addPortMaps, checkPortMaps, gcPortMaps, type PortMapOptions, removePortMaps } from './port-maps.ts';
export { forgetFlowsBefore, forgetFlowsTo, type PublishedPort, publishedPorts } from './published-flows.ts';
export { requireFirewall, requirePortMaps } from './requirements.ts';
export {
  addSpoofCheck,
  checkSpoofCheck,
  gcSpoofCheck,
  removeSpoofCheck,
  type SpoofCheck,
} from './spoof-check.ts';
export type { StaleFilter } from './stale-filter.ts';
export { fillInChecksums, hasVxlanChecksumFault, leavesChecksums } from './vxlan-checksum.ts';
