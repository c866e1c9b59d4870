/** The resident process that serves calls of plugins, as a library: the `heddle` command starts it. */
export { Agent, type AgentLimits, type AgentOptions } from './agent.ts';
export { AgentError, type AgentErrorCode } from './agent-error.ts';
export { askMetrics, askStatus } from './ask.ts';
export { type Door, handedDoor, ownDoor } from './door.ts';
export type { AgentEvent, ServedCall } from './events.ts';
export {
  type ClusterNetwork,
  ClusterNode,
  type ClusterNodeOptions,
  type NodePace,
} from './node/cluster-node.ts';
export { handlesInUse } from './node/evidence.ts';
export { disconnectBridge } from './node/former-bridge.ts';
export { formerHandle } from './node/former-network.ts';
export { machineId } from './node/machine-id.ts';
export {
  type FormerNetworkConfig,
  NODE_CONFIG,
  type NodeConfig,
  parseNodeConfig,
  readNodeConfig,
  underlayOptions,
  type WrittenNodeConfig,
} from './node/node-config.ts';
export { NodeError, type NodeErrorCode } from './node/node-error.ts';
export type { NodeEvent } from './node/node-event.ts';
export type { AsJson, NodeBlockStatus, NodeReserveStatus, NodeStatus } from './node/node-status.ts';
export { openStore, type StoreConfig } from './node/open-store.ts';
export { errorCode } from './observe/figures.ts';
export { METRICS, type PoolUse } from './observe/metrics.ts';
export { listenForMetrics, type MetricsListener, parseListenAddress } from './observe/metrics-listener.ts';
export type { AgentStatus, CallFigures, CommandFigures } from './observe/status.ts';
export { agentPlace, handedDescriptor } from './places.ts';
export { ServiceManager, type ServiceState, watchdogInterval } from './systemd/service-manager.ts';
export { startWatchdog, type WatchdogOptions } from './systemd/watchdog.ts';
export { type TraceSettings, toCollector, toFile, traceSettings } from './trace/destinations.ts';
export { type ExporterOptions, type SendTraces, SpanExporter } from './trace/exporter.ts';
