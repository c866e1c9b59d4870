/** The agent's metrics: what there is, and the text that Prometheus reads. */
import { readdirSync } from 'node:fs';
import type { NodeBlockStatus } from '../node/node-status.ts';
import { exposition, type MetricDefinition, type Sample } from './exposition.ts';
import type { Figures } from './figures.ts';
import type { AgentStatus } from './status.ts';

/** How full the addresses of a network are. */
export interface PoolUse {
  readonly network: string;
  /** 4 or 6. */
  readonly family: number;
  /** Addresses that are held. */
  readonly used: number;
  /** Addresses that the network can give out, where its configuration is known. */
  readonly size?: number | undefined;
}

/** What the metrics are made of. */
export interface MetricSources {
  readonly figures: Figures;
  readonly status: AgentStatus;
  /** How many clients are served at a time. */
  readonly mostClients: number;
  readonly pools: readonly PoolUse[];
}

/** A metric and where its values come from. */
interface Metric extends MetricDefinition {
  readonly read: (sources: MetricSources) => Iterable<Sample>;
}

/** All of them, in the order in which they are told. docs/agent.md has the same table. */
export const METRICS: readonly MetricDefinition[] = metrics();

/** The text. */
export function metricsText(sources: MetricSources): string {
  return metrics()
    .map((metric) => exposition(metric, metric.read(sources)))
    .join('');
}

function metrics(): readonly Metric[] {
  return [
    {
      ...{
        name: 'heddle_agent_info',
        type: 'gauge',
        labels: ['version'],
        help: 'The agent that runs; always 1.',
      },
      read: ({ status }) => [{ labels: [status.version], value: 1 }],
    },
    {
      ...{ name: 'heddle_call_seconds', type: 'histogram', labels: ['command', 'plugin'] },
      help: 'How long calls took, from the complete request to the answer.',
      read: ({ figures }) =>
        [...figures.calls].map(({ command, plugin, latency }) => ({
          labels: [command, plugin],
          value: latency,
        })),
    },
    {
      ...{ name: 'heddle_call_step_seconds', type: 'histogram', labels: ['command', 'plugin', 'step'] },
      help: 'How long calls spent waiting for their turn (turn), in delegates (delegate), for the kernel (kernel).',
      read: ({ figures }) =>
        [...figures.calls].flatMap(({ command, plugin, steps }) =>
          [...steps].map(([step, value]) => ({ labels: [command, plugin, step], value })),
        ),
    },
    {
      ...{ name: 'heddle_call_errors_total', type: 'counter', labels: ['command', 'plugin', 'code'] },
      help: 'Calls that ended in an error, by CNI error code.',
      read: ({ figures }) =>
        [...figures.calls].flatMap(({ command, plugin, errors }) =>
          [...errors].map(([code, value]) => ({ labels: [command, plugin, `${code}`], value })),
        ),
    },
    {
      ...{ name: 'heddle_declined_total', type: 'counter', labels: ['reason'] },
      help: 'Calls that were left to their callers: of a plugin that the agent has not (plugin), from other namespaces (namespaces).',
      read: ({ figures }) => counted(figures.declined),
    },
    {
      ...{ name: 'heddle_replayed_total', type: 'counter', labels: ['result'] },
      help: 'DELs from the queue that were tried: done or failed.',
      read: ({ figures }) => counted(figures.replayed),
    },
    {
      ...{ name: 'heddle_troubles_total', type: 'counter', labels: ['where'] },
      help: 'What went wrong beside calls: clients that were dropped (client), the queue (queue), links (link), traces (trace), the watchdog (watchdog).',
      read: ({ figures }) => counted(figures.troubles),
    },
    {
      ...{ name: 'heddle_clients', type: 'gauge', labels: [], help: 'Clients that are served now.' },
      read: ({ status }) => [{ value: status.clients }],
    },
    {
      ...{ name: 'heddle_clients_max', type: 'gauge', labels: [] },
      help: 'Clients that are served at a time; others wait in the queue of the socket.',
      read: ({ mostClients }) => [{ value: mostClients }],
    },
    {
      ...{ name: 'heddle_callers_waiting', type: 'gauge', labels: [] },
      help: 'Callers in the queue of the socket, where the kernel tells (unix_diag).',
      read: ({ status }) => (status.waitingCallers === null ? [] : [{ value: status.waitingCallers }]),
    },
    {
      ...{ name: 'heddle_calls_waiting', type: 'gauge', labels: [] },
      help: 'Calls that wait for the turn of their attachment.',
      read: ({ status }) => [{ value: status.waitingForTurn }],
    },
    {
      ...{ name: 'heddle_dels_waiting', type: 'gauge', labels: [], help: 'DELs in the queue.' },
      read: ({ status }) => [{ value: status.waitingDels }],
    },
    {
      ...{ name: 'heddle_pool_addresses_used', type: 'gauge', labels: ['network', 'family'] },
      help: 'Addresses that host-local holds for a network, by IP version.',
      read: ({ pools }) =>
        pools.map(({ network, family, used }) => ({ labels: [network, `${family}`], value: used })),
    },
    {
      ...{ name: 'heddle_pool_addresses', type: 'gauge', labels: ['network', 'family'] },
      help: 'Addresses that host-local can give out for a network that is configured on this node.',
      read: ({ pools }) =>
        pools.flatMap(({ network, family, size }) =>
          size === undefined ? [] : [{ labels: [network, `${family}`], value: size }],
        ),
    },
    {
      ...{ name: 'heddle_node_ready', type: 'gauge', labels: ['node'] },
      help: 'Whether the node of a cluster that this is can give pods addresses: 1 or 0.',
      read: ({ status: { node } }) =>
        node === null ? [] : [{ labels: [node.name], value: node.ready ? 1 : 0 }],
    },
    {
      ...{ name: 'heddle_node_addresses_used', type: 'gauge', labels: ['pool'] },
      help: "Addresses of the node's own blocks that are held, by pool.",
      read: ({ status: { node } }) => perPool(node),
    },
    {
      ...{ name: 'heddle_node_blocks', type: 'gauge', labels: ['pool'] },
      help: 'Blocks that the node has, by pool.',
      read: ({ status: { node } }) => perPool(node, () => 1),
    },
    {
      ...{ name: 'heddle_node_releases_waiting', type: 'gauge', labels: [] },
      help: 'Attachments whose addresses are to be given back to the cluster, and could not be yet.',
      read: ({ status: { node } }) => (node === null ? [] : [{ value: node.waitingReleases }]),
    },
    {
      ...{ name: 'heddle_node_leaks_released_total', type: 'counter', labels: [] },
      help: 'Addresses that were given back because their attachments were proven to be gone.',
      read: ({ status: { node } }) => (node === null ? [] : [{ value: node.leaksReleased }]),
    },
    {
      ...{ name: 'process_start_time_seconds', type: 'gauge', labels: [], help: 'When the agent began.' },
      read: ({ status }) => [{ value: Date.parse(status.since) / 1000 }],
    },
    {
      ...{
        name: 'process_cpu_seconds_total',
        type: 'counter',
        labels: [],
        help: 'Processor time of the agent.',
      },
      read: ({ status }) => [{ value: status.cpu }],
    },
    {
      ...{ name: 'process_resident_memory_bytes', type: 'gauge', labels: [], help: 'Memory of the agent.' },
      read: ({ status }) => [{ value: status.memory }],
    },
    {
      ...{ name: 'process_open_fds', type: 'gauge', labels: [], help: 'Descriptors of the agent.' },
      read: () => [{ value: readdirSync('/proc/self/fd').length }],
    },
  ];
}

function perPool(
  node: AgentStatus['node'],
  amount: (block: NodeBlockStatus) => number = ({ held }) => held,
): readonly Sample[] {
  const sums = new Map<string, number>();
  for (const block of node?.blocks ?? []) sums.set(block.pool, (sums.get(block.pool) ?? 0) + amount(block));
  return counted(sums);
}

function counted(counts: ReadonlyMap<string, number>): readonly Sample[] {
  return [...counts].map(([label, value]) => ({ labels: [label], value }));
}
