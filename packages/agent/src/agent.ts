/**
 * The agent: serves calls of plugins that callers hand over, many at a time, and keeps nothing that a restart would
 * lose. What a call needs to know is in the kernel, in files, and in the call.
 */
import { dirname } from 'node:path';
import { Decoded, type Plugin } from '@heddle/cni/plugin';
import { type Answer, AttachmentTurns, DelQueue, HANDOVER_FLAG, InflightMarks } from '@heddle/cni/runtime';
import { LINK_GROUPS } from '@heddle/dataplane';
import { type Effort, LinkRemovals, openSession } from '@heddle/netlink';
import type { Fd } from '@heddle/sys';
import { Budget } from './budget.ts';
import type { SharedSurroundings } from './call-host.ts';
import { converse } from './conversation.ts';
import type { Door } from './door.ts';
import type { AgentEvent } from './events.ts';
import { KnownPrograms } from './known-programs.ts';
import type { NodeStatus } from './node/node-status.ts';
import { Figures } from './observe/figures.ts';
import { metricsText, type PoolUse } from './observe/metrics.ts';
import { callersWaiting } from './observe/socket-queue.ts';
import { type AgentStatus, countedStatus } from './observe/status.ts';
import { RandomPool } from './random-pool.ts';
import { Reception, type Visit } from './reception.ts';
import { replay } from './replay.ts';
import type { Request } from './request.ts';
import { Service } from './service.ts';
import { SessionPool } from './session-pool.ts';
import type { SpanExporter } from './trace/exporter.ts';
import { watchNames } from './watch-names.ts';

/** What an agent is made of. */
export interface AgentOptions {
  readonly door: Door;
  readonly plugins: ReadonlyMap<string, Plugin>;
  /** Told of everything that the agent does. */
  readonly onEvent?: (event: AgentEvent) => void;
  readonly version: string;
  /** Where DELs wait for the agent. Default: the directory that is compiled into the shim. */
  readonly queue?: DelQueue;
  /** Default `/run/heddle/attachments`. */
  readonly turnsDirectory?: string;
  /** Where marks of running ADDs are kept. Default `/run/heddle/adding`. */
  readonly marks?: string;
  readonly limits?: Partial<AgentLimits>;
  /** Takes the spans of calls that are traced. Without it no call is. */
  readonly traces?: SpanExporter;
  /** How full the networks' addresses are, asked for with the metrics. */
  readonly pools?: () => readonly PoolUse[];
  /** How the node of a cluster is that the agent is part of. */
  readonly node?: () => Promise<NodeStatus>;
}

/** How much the agent takes upon itself. */
export interface AgentLimits {
  /** Clients at a time; the others wait. */
  readonly clients: number;
  /** Bytes of requests that are not complete yet, of all clients together. */
  readonly unfinished: number;
  /** Milliseconds in which a request must come, and its answer be taken. */
  readonly patience: number;
  /** Milliseconds after which a client without a complete request makes room for others, when all places are taken. */
  readonly grace: number;
  /** Kernel sessions that are kept open. */
  readonly idleSessions: number;
  /**
   * Clients at a time up to which long kernel requests are made inside the call. Handing one to a thread and back takes
   * longer than a brief one does, which therefore always are; the deletion of links, which takes longest, never is.
   */
  readonly unthreaded: number;
}

/** See the file's comment. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #limits: AgentLimits;
  readonly #queue: DelQueue;
  readonly #shared: SharedSurroundings;
  readonly #service: Service;
  readonly #figures = new Figures();
  readonly #since = new Date();
  readonly #budget: Budget;
  readonly #reception: Reception;
  readonly #watching = new DisposableStack();
  #replaying: Promise<void> = Promise.resolve();
  #ended: Promise<void> | undefined;

  constructor(options: AgentOptions) {
    const { door, plugins, queue = new DelQueue(), turnsDirectory, marks = '/run/heddle/adding' } = options;
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#queue = queue;
    this.#budget = new Budget(this.#limits.unfinished);
    const onLateFailure = (error: unknown) =>
      this.#tell({ kind: 'trouble', where: 'link', what: 'delete a link that is gone', error });
    const removals = new LinkRemovals({ group: LINK_GROUPS.going, onLateFailure });
    const mode = (effort: Effort) => {
      const isBrief = effort === 'brief' || (effort === 'queued' && !removals.isBusy);
      return isBrief || this.#reception.present <= this.#limits.unthreaded ? 'sync' : 'threaded';
    };
    this.#shared = {
      ...{ plugins, marks, mode, decoded: new Decoded(), programs: new KnownPrograms() },
      ...{ inflight: new InflightMarks(marks), clock: { now: () => Date.now() }, random: new RandomPool() },
      sessions: new SessionPool(
        (pooled) => openSession({ mode, removals, ...pooled }),
        this.#limits.idleSessions,
      ),
      turns: new AttachmentTurns({
        queue,
        ...(turnsDirectory !== undefined && { directory: turnsDirectory }),
      }),
    };
    this.#service = new Service({
      ...{ shared: this.#shared, traces: options.traces },
      tell: (event) => this.#tell(event),
    });
    this.#reception = new Reception({
      ...{ door, most: this.#limits.clients, grace: this.#limits.grace },
      serve: (client, visit) => this.#serveClient(client, visit),
    });
  }

  /** Does the DELs that wait, and then serves whoever comes. */
  async start(): Promise<void> {
    const { queue, path } = { queue: this.#queue.directory, path: this.#options.door.path };
    this.#watching.use(watchNames(queue, (name) => name.endsWith('.del') && this.#replay()));
    await this.#replay();
    this.#reception.open();
    if (path !== undefined) this.#watching.use(watchNames(dirname(path), () => this.#retireIfReplaced()));
  }

  /** Takes nobody in any more, and ends when all calls have ended. */
  stop(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  /** How it is. */
  async status(): Promise<AgentStatus> {
    const { user, system } = process.cpuUsage();
    return {
      version: this.#options.version,
      pid: process.pid,
      since: this.#since.toISOString(),
      socket: this.#options.door.path ?? null,
      ...countedStatus(this.#figures),
      clients: this.#reception.present,
      waitingCallers: (await callersWaiting(this.#options.door.listener)) ?? null,
      waitingForTurn: this.#shared.turns.waiting,
      waitingDels: this.#queue.read().dels.length,
      memory: process.memoryUsage.rss(),
      cpu: (user + system) / 1_000_000,
      node: (await this.#options.node?.()) ?? null,
    };
  }

  /** Its metrics, as Prometheus reads them. */
  async metrics(): Promise<string> {
    return metricsText({
      figures: this.#figures,
      status: await this.status(),
      mostClients: this.#limits.clients,
      pools: this.#options.pools?.() ?? [],
    });
  }

  /** Ends when the kernel has answered a request that took the way of a call's. */
  async probe(): Promise<void> {
    using session = this.#shared.sessions.take(() => () => {});
    await session.links.find('lo');
  }

  async #end(): Promise<void> {
    this.#watching.dispose();
    await this.#reception.close();
    await this.#replaying;
    this.#shared.sessions[Symbol.dispose]();
  }

  #replay(): Promise<void> {
    this.#replaying = this.#replaying
      .then(() => replay(this.#queue, this.#shared, (event) => this.#tell(event)))
      .catch((error: unknown) =>
        this.#tell({ kind: 'trouble', where: 'queue', what: 'do the DELs that wait', error }),
      );
    return this.#replaying;
  }

  #retireIfReplaced(): void {
    if (this.#ended !== undefined || !this.#options.door.isReplaced()) return;
    this.#tell({ kind: 'replaced' });
    void this.stop();
  }

  async #serveClient(client: Fd, visit: Visit): Promise<void> {
    try {
      const limits = { budget: this.#budget, patience: this.#limits.patience, visit };
      await converse(client, limits, (request, caller) => this.#answer(request, caller));
    } catch (error) {
      this.#tell({ kind: 'trouble', where: 'client', what: 'serve a client', error });
    }
  }

  async #answer(request: Request, caller: AbortSignal): Promise<Answer> {
    const { flags } = request.call;
    if ((flags & HANDOVER_FLAG.STATUS) !== 0) return said(JSON.stringify(await this.status()));
    if ((flags & HANDOVER_FLAG.METRICS) !== 0) return said(await this.metrics());
    return await this.#service.answer(request, caller);
  }

  #tell(event: AgentEvent): void {
    this.#figures.count(event);
    this.#options.onEvent?.(event);
  }
}

/** An answer about the agent itself. */
function said(stdout: string): Answer {
  return { verdict: 'done', outcome: { exitCode: 0, stdout, stderr: '' } };
}

const LIMITS: AgentLimits = {
  clients: 256,
  unfinished: 64 * 1024 * 1024,
  patience: 10_000,
  grace: 1000,
  idleSessions: 16,
  unthreaded: 2,
};
