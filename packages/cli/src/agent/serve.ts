/** The agent as a service: its socket, its log, its metrics, its traces, and what systemd wants to hear. */
import {
  Agent,
  type AgentEvent,
  agentPlace,
  handedDescriptor,
  handedDoor,
  listenForMetrics,
  ownDoor,
  parseListenAddress,
  ServiceManager,
  SpanExporter,
  startWatchdog,
  toCollector,
  toFile,
  traceSettings,
  watchdogInterval,
} from '@heddle/agent';
import { DelQueue } from '@heddle/cni/runtime';
import { PLUGINS, residentPlugins } from '@heddle/plugins';
import type { Cli } from '../command.ts';
import { configDir } from '../request/environment.ts';
import { HEDDLE_VERSION } from '../version.ts';
import { type Level, type LOG_FORMATS, logEvent, openLog } from './log.ts';
import { startNode } from './node.ts';
import { poolUse } from './pools.ts';

/** What an operator can choose. */
export interface ServeOptions {
  /** Where metrics are served, if anywhere. */
  readonly metrics?: string | undefined;
  readonly logFormat: (typeof LOG_FORMATS)[number];
  readonly logLevel: Level;
  /** A file for traces, in place of a collector. */
  readonly traces?: string | undefined;
  /** The configuration of a node of a cluster that the agent is to be, if any. */
  readonly node?: string | undefined;
}

/** Serves until SIGTERM, SIGINT, or another agent; then ends what it has begun. */
export async function serveUntilTold(cli: Cli, options: ServeOptions): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const ended = Promise.withResolvers<void>();
  const log = openLog({
    ...{ format: options.logFormat, level: options.logLevel },
    ...{ now: cli.now, write: (line) => cli.stderr.write(line) },
  });
  const manager = stack.use(new ServiceManager(cli.env));
  const trouble = (where: 'trace' | 'watchdog', what: string) => (error: unknown) =>
    onEvent({ kind: 'trouble', where, what, error });
  const onEvent = (event: AgentEvent) => {
    logEvent(log, event);
    if (event.kind === 'replaced') ended.resolve();
  };
  const where = options.metrics === undefined ? undefined : parseListenAddress(options.metrics);
  const traces = tracesOf(cli, options, trouble('trace', 'hand on traces'));
  if (traces !== undefined) stack.use(traces);
  const cluster =
    options.node === undefined
      ? undefined
      : stack.use(await startNode(cli, options.node, (event) => logEvent(log, event)));
  const descriptor = handedDescriptor(cli.env, process.pid);
  const agent = new Agent({
    door: descriptor === undefined ? ownDoor(agentPlace('socket', cli.env)) : handedDoor(descriptor),
    plugins: residentPlugins(cluster === undefined ? {} : { addresses: cluster.addresses }),
    queue: new DelQueue(agentPlace('queue', cli.env)),
    version: HEDDLE_VERSION,
    onEvent,
    pools: () => poolUse({ configDir: configDir(cli), reservationDir: cli.places.reservationDir }),
    ...(traces !== undefined && { traces }),
    ...(cluster !== undefined && { node: () => cluster.status() }),
  });
  using _signals = cli.signals.listen(['SIGTERM', 'SIGINT'], () => ended.resolve());
  await agent.start();
  stack.defer(() => agent.stop());
  const listener = where && stack.use(await listenForMetrics(where, () => agent.metrics()));
  log({
    ...{ level: 'info', event: 'ready' },
    fields: { version: HEDDLE_VERSION, socket: (await agent.status()).socket, metrics: listener?.address },
  });
  manager.tell('READY=1', `STATUS=serves ${PLUGINS.size} plugins`);
  const interval = watchdogInterval(cli.env, process.pid);
  if (interval !== undefined) {
    stack.use(
      startWatchdog({
        interval,
        probe: () => agent.probe(),
        keepAlive: () => manager.tell('WATCHDOG=1'),
        onFailure: trouble('watchdog', 'ask the kernel whether it answers'),
      }),
    );
  }
  await ended.promise;
  manager.tell('STOPPING=1', 'STATUS=ends its calls');
  log({ level: 'info', event: 'stopping', fields: {} });
}

function tracesOf(
  cli: Cli,
  { traces: file }: ServeOptions,
  onFailure: (error: unknown) => void,
): SpanExporter | undefined {
  const { url, headers, attributes } = traceSettings(cli.env);
  const send = file !== undefined ? toFile(file) : url && toCollector(url, headers);
  return send && new SpanExporter({ send, onFailure, resource: { version: HEDDLE_VERSION, attributes } });
}
