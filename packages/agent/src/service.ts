/** Serves calls of plugins: one plugin, or a chain of them in one request. */
import { type Plugin, type PluginOutcome, serve } from '@heddle/cni/plugin';
import { type Answer, HANDOVER_FLAG, type Handover, readChain, runChain } from '@heddle/cni/runtime';
import { callHost, type OwnSurroundings, type SharedSurroundings } from './call-host.ts';
import type { AgentEvent } from './events.ts';
import { StepLog } from './observe/steps.ts';
import { isPlace, ownPlace, type Place } from './place.ts';
import type { Request } from './request.ts';
import type { SpanExporter } from './trace/exporter.ts';
import { spansOf, tracedEnvironment, traceOf } from './trace/span.ts';

/** What serving needs, and who hears of it. */
export interface ServiceOptions {
  readonly shared: SharedSurroundings;
  /** Takes the spans of calls that are traced. */
  readonly traces: SpanExporter | undefined;
  readonly tell: (event: AgentEvent) => void;
}

/** See the file's comment. */
export class Service {
  readonly #options: ServiceOptions;
  readonly #place: Place = ownPlace();

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** Does what a caller asks, unless it has to do that itself. */
  async answer({ call, descriptors }: Request, caller: AbortSignal): Promise<Answer> {
    if (!isPlace(this.#place, descriptors)) {
      return this.#decline(call, 'namespaces', 'the caller lives in other namespaces');
    }
    const netns = (call.flags & HANDOVER_FLAG.NETNS) !== 0 ? descriptors[2] : undefined;
    if ((call.flags & HANDOVER_FLAG.CHAIN) !== 0) return await this.#serveChain(call, { netns, caller });
    const plugin = this.#options.shared.plugins.get(call.type);
    if (plugin === undefined) return this.#decline(call, 'plugin', 'there is no such plugin');
    return { verdict: 'done', outcome: await this.#serve(plugin, call, { netns, caller }) };
  }

  async #serveChain(call: Handover, from: Origin): Promise<Answer> {
    const { plugins, ...how } = readChain(call.stdin);
    const table = this.#options.shared.plugins;
    const unknown = plugins.find(({ type }) => !table.has(type));
    if (unknown !== undefined) return this.#decline(call, 'plugin', `there is no plugin ${unknown.type}`);
    const runs = plugins.map((plugin) => ({ ...plugin, env: call.env }));
    const outcomes = await runChain({ runs, ...how, signal: from.caller }, (run) => {
      const { type, path: program } = run;
      const one = { ...call, type, program, stdin: Buffer.from(run.stdin) };
      return this.#serve(table.get(type) as Plugin, one, from);
    });
    return { verdict: 'done', outcome: { exitCode: 0, stdout: JSON.stringify(outcomes), stderr: '' } };
  }

  async #serve(plugin: Plugin, call: Handover, from: Origin): Promise<PluginOutcome> {
    const { shared, traces, tell } = this.#options;
    const began = performance.now();
    const trace = traces && traceOf(call);
    const steps = new StepLog(() => performance.now());
    let stderr = '';
    const ports = callHost(shared, { call, ...from, steps, onStderr: (text) => (stderr += text) });
    const env = trace === undefined ? call.env : tracedEnvironment(call.env, trace);
    const outcome = await serve(plugin, { env, readStdin: () => call.stdin }, ports);
    const milliseconds = performance.now() - began;
    const served = { kind: 'served', call, outcome, milliseconds, steps: steps.steps } as const;
    // What others want to know of the call can wait until the answer is on its way.
    setImmediate(() => {
      if (trace !== undefined) traces?.add(spansOf({ ...served, began }, trace, performance.timeOrigin));
      tell(served);
    });
    return { ...outcome, stderr: stderr + outcome.stderr };
  }

  #decline(call: Handover, reason: 'plugin' | 'namespaces', why: string): Answer {
    this.#options.tell({ kind: 'declined', call, reason, why });
    return { verdict: 'declined' };
  }
}

/** Where a call comes from. */
type Origin = Pick<OwnSurroundings, 'netns' | 'caller'>;
